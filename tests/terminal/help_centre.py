"""Three questions to a help centre, and five results for each: what the tests and the recorded screen label."""

from __future__ import annotations

from rankproof.data.corpus import Corpus, Document
from rankproof.data.gold import Query
from rankproof.labeling.pool import Candidate, Pool, Sighting, Task

QUERIES = (
    Query("reset", "How do I reset my password?", "account"),
    Query("invoice", "Where can I download an invoice?", "billing"),
    Query("limit", "What is the rate limit of the API?", "developer"),
)
DOCUMENTS = {
    "reset": (
        ("forgot-password", "Forgot your password?", "Choose “Forgot password” on the sign-in page. We send a link to"
         " your address; it is good for one hour. Open it to reset the password and sign in again."),
        ("password-rules", "Rules for passwords", "A password has at least twelve characters. Words that stand in a"
         " dictionary are refused, and so is the name of your company."),
        ("account-recovery", "Recover an account", "If you have lost your second factor, our support can reset it"
         " after a check of your identity. Have your recovery code at hand."),
        ("reset-device", "Reset a device", "Hold the button on the back for ten seconds. All settings go back to those"
         " of the factory."),
        ("change-email", "Change your address", "Open Settings, then Profile. We ask for your password before the"
         " address is changed."),
    ),
    "invoice": (
        ("invoices", "Your invoices", "Every invoice is kept under Billing, then History. Choose one to download it as"
         " a PDF."),
        ("refund", "Refunds", "A refund goes to the card that was charged and arrives within five days."),
        ("vat", "VAT on invoices", "Enter your VAT number under Billing before the invoice is made; later it cannot"
         " be added."),
        ("download-app", "Download the app", "The app is in both stores, free of charge."),
        ("plans", "Plans and prices", "The team plan is billed by the month or by the year."),
    ),
    "limit": (
        ("rate-limits", "Rate limits", "Each key may send 600 requests a minute. Beyond that the API answers 429 and"
         " says in Retry-After when to come back."),
        ("api-keys", "API keys", "Make a key under Settings, then Developers. It is shown once."),
        ("webhooks", "Webhooks", "We call your address when something changes, and try again for a day."),
        ("interest", "What is the interest rate?", "Late payments bear interest at the legal rate."),
        ("upload-limit", "Size of uploads", "A file may have up to 100 MB."),
    ),
}  # fmt: skip


def help_centre() -> Pool:
    """The pool, in the order above."""
    made = {query: [Document(name, text, title) for name, title, text in docs] for query, docs in DOCUMENTS.items()}
    corpus = Corpus(tuple(document for documents in made.values() for document in documents))
    tasks = [
        Task(query, tuple(Candidate(d, (Sighting("bm25", n, 9.5 - n),)) for n, d in enumerate(made[query.id], 1)))
        for query in QUERIES
    ]
    return Pool(tuple(tasks), corpus)
