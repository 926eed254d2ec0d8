"""The help pages of a shop: a project with groups, a baseline and a regression, for the report to be about."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import NamedTuple

PROJECT = """\
gold: gold.csv
corpus: corpus.jsonl
pipelines:
  keyword: {retrieve: {bm25: {language: english}}, depth: 50}
  words: {retrieve: bow, depth: 50}
  hybrid: {fuse: {of: [keyword, words], by: rrf}, rerank: [{mmr: {lambda: 0.9}}]}
measures: [nDCG@10, RR, P@1, R@20]
gate: {floors: {RR: 0.4}, max_drop: {nDCG@10: 0.02, RR: 0.05}, groups: {min_size: 6}}
cache: false
"""


_BETTER = {
    "delivery-cost": "There is no other shipping fee.",
    "large-articles": "A sofa goes upstairs too; they carry it.",
    "exchange": "So you swap it for a bigger one.",
}


class Page(NamedTuple):
    """A page, and the query that it answers."""

    id: str
    title: str
    text: str
    query: str
    also: str = ""
    """Another page that answers in part."""


TEXTS = {
    "account": """\
reset-password | how do I reset my password | password-rules
    Forgot your password?
    Choose Forgot password on the sign-in page and we send a link. It is good for one hour.
password-rules | which characters must a password have
    Rules for passwords
    A password has at least twelve characters. Words from a dictionary are refused.
two-factor | turn on 2FA | lost-phone
    Two-step sign-in
    Scan the code with an authenticator app. Each sign-in then asks for six digits.
lost-phone | I lost my phone and cannot sign in | two-factor
    Lost your phone?
    Use a recovery code in place of the six digits, then scan a new code.
change-email | change email address
    Change your e-mail address
    Open Settings, then Profile. We ask for your password before the address is changed.
delete-account | remove my profile for good
    Close your account
    Under Settings choose Close account. Orders on their way still arrive.
merge-accounts | join two accounts into one
    Two accounts
    We can join two accounts into one. Points and orders move over.
newsletter | stop sending me advertisements
    Newsletter and messages
    Choose what we write to you about under Settings, then Messages.
guest-order | order without an account
    Order as a guest
    Nobody needs an account to order. A link in the confirmation shows the order.
company-account | several people order for our company | purchase-order
    Accounts for companies
    Several people order on one account; each has a limit that you set.
""",
    "billing": """\
invoices | where can I download an invoice
    Your invoices
    Every invoice is kept under Orders. Choose one to download it as a PDF.
vat-number | add VAT number to an invoice | invoices
    VAT number on invoices
    Enter the VAT number before the invoice is made. Later it cannot be added.
payment-methods | which payment methods are there | gift-cards
    Ways to pay
    We take cards, bank transfer and gift cards. Cash is not taken.
card-declined | my card was declined | payment-methods
    Card declined
    The bank said no. Check the limit of the card, or pay in another way.
gift-cards | how long is a gift card good for
    Gift cards
    A gift card is good for three years. What is left stays on the card.
instalments | pay in monthly instalments
    Pay in instalments
    Orders above 100 can be paid in three monthly instalments without interest.
refund-time | when does the refund arrive on my card | return-parcel
    When the money is back
    A refund goes to the card that was charged and arrives within five days.
price-match | lower price elsewhere, pay the difference
    Price match
    Show us a lower price of the same article within a week and we pay the difference.
purchase-order | pay by purchase order within 30 days
    Purchase orders
    Companies may order against a purchase order and pay within 30 days.
double-charge | I was charged twice | refund-time
    Charged twice?
    A reservation looks like a charge and falls away after two days.
""",
    "delivery": """\
track-parcel | where is my parcel right now
    Track a parcel
    The link in the message shows where the parcel is, to the hour.
delivery-time | how long does shipping take | shipping-abroad
    How long delivery takes
    Two working days at home, five abroad. Large articles take a week.
shipping-abroad | do you ship to Norway | delivery-time
    Delivery abroad
    We deliver to 27 countries. Customs may ask for a duty.
delivery-cost | shipping fee
    What delivery costs
    Free above 50, otherwise 4.90. Large articles cost 29.
change-address | deliver to another address
    Change the delivery address
    Until the parcel leaves us the address can be changed under Orders.
pick-up | collect the order in a shop myself
    Pick up in a shop
    Choose a shop and come when we write. We keep the order for seven days.
parcel-lost | parcel never came | track-parcel
    A parcel that does not arrive
    After ten days we count it as lost and send another or give the money back.
parcel-damaged | the box is broken, what now | return-parcel
    A damaged parcel
    Take pictures of the box and of the article and send them within three days.
delivery-day | choose the day of delivery
    Choose the day
    For 3.90 you choose the day and two hours of it.
large-articles | will they carry the sofa upstairs
    Furniture and other large articles
    Two people carry it into the room that you name and take the packaging along.
""",
    "returns": """\
return-parcel | how do I return an article
    Send something back
    Print the label under Orders and bring the parcel to any shop within 30 days.
return-label | return label without a printer | return-parcel
    Without a printer
    Show the code on your phone at the counter. They print the label.
exchange | swap for a bigger one
    Another size
    Order the other size at once and send the first back; you pay one only.
warranty | how many years of warranty are there
    Warranty
    Two years on everything, five on furniture. Wear does not count.
repair | fix my broken kettle | warranty
    Repairs
    We repair within the warranty free of charge; after it we name the price first.
opened-goods | return worn shoes | return-parcel
    Opened goods
    Tried on is fine. Worn, washed or used we take back for part of the price.
no-return | which goods cannot be returned
    What cannot be returned
    Food, underwear and what was made to measure stay with you.
gift-return | give back a present | gift-cards
    Return a present
    With the order number anyone can return a present; they get a gift card.
missing-parts | a screw is missing
    Missing parts
    Name the part by its letter in the instructions and we send it.
late-return | return after 30 days | return-parcel
    After 30 days
    Later than 30 days we take back only what is faulty.
""",
    "": """\
about
    About us
    A shop for the house since 1987, with 40 shops in five countries.
jobs
    Work with us
    Open places in shops, in the warehouse and in the office.
privacy
    Privacy
    Which data we keep, for how long, and how you have them deleted.
points
    Points
    Each order earns points. A hundred points are worth five on the next order.
wish-list
    Wish lists
    Keep articles for later and share the list with others.
""",
}
"""Group → its pages: id, query and what answers in part; title; text. The last group has no queries."""
_SPOILT = ("invoices", "vat-number", "payment-methods", "card-declined", "gift-cards", "instalments", "refund-time",
           "purchase-order", "double-charge", "delivery-day", "no-return")  # fmt: skip


def _pages(text: str) -> list[Page]:
    lines = text.splitlines()
    made = []
    for head, title, body in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name, query, also = (*head.split(" | "), "", "")[:3]
        made.append(Page(name, title.strip(), body.strip(), query, also))
    return made


PAGES = {group: _pages(text) for group, text in TEXTS.items()}


def write_shop(folder: Path) -> None:
    """The project as it was when its baseline was recorded."""
    _write_corpus(folder, [page for pages in PAGES.values() for page in pages])
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["query", "ideal_page", "category", "grade", "notes"])
    for group, pages in PAGES.items():
        for page in pages if group else []:
            note = "asked most often in January" if page.id == "return-parcel" else ""
            rows.writerow([page.query, page.id, group, 2, note])
            if page.also:
                rows.writerow([page.query, page.also, group, 1, note])
    (folder / "gold.csv").write_text(out.getvalue(), encoding="utf-8", newline="\n")
    (folder / "rankproof.yaml").write_text(PROJECT, encoding="utf-8", newline="\n")


def spoil_shop(folder: Path) -> None:
    """Somebody words three pages better, and puts pages of the old shop into the index, which speak of payments."""
    pages = [
        page._replace(text=f"{page.text} {_BETTER.get(page.id, '')}".strip())
        for pages in PAGES.values()
        for page in pages
    ]
    old = [
        Page(f"archive-{one.id}", f"Archive 2019: {one.title}", f"{one.query}. No longer valid. {one.query}", "")
        for one in pages
        if one.id in _SPOILT
    ]
    _write_corpus(folder, [*pages, *old])


def _write_corpus(folder: Path, pages: list[Page]) -> None:
    lines = [json.dumps({"id": page.id, "title": page.title, "text": page.text}) for page in pages]
    (folder / "corpus.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def shop_page(folder: Path) -> Path:
    """The report on the spoilt shop, held against its baseline."""
    from rankproof.cli.main import run

    write_shop(folder)
    assert run(["baseline", "record", str(folder), "--quiet"]) == 0
    spoil_shop(folder)
    page = folder / "report.html"
    assert run(["report", str(folder), "-o", str(page), "--quiet"]) == 0
    return page
