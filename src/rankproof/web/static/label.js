// Labelling with keys, and an outbox: what a person says is kept in the browser until the server has it on disk.
"use strict";
(() => {
  const desk = document.body.dataset.desk;
  let token = document.body.dataset.token;
  const $ = (selector) => document.querySelector(selector);
  document.documentElement.classList.add("on");
  if (!desk) return;

  // The outbox. Each action is an entry of its own, so that two tabs never overwrite each other's; the server counts an
  // action once, so that it does no harm if both send it.
  const PREFIX = `rankproof:${desk}:`;
  const memory = new Map();
  const storage = (() => {
    try {
      localStorage.setItem(`${PREFIX}probe`, "1");
      localStorage.removeItem(`${PREFIX}probe`);
      return localStorage;
    } catch {
      return null;
    }
  })();

  function put(name, value) {
    const text = JSON.stringify(value);
    try {
      storage.setItem(PREFIX + name, text);
    } catch {
      memory.set(PREFIX + name, text);
    }
  }

  function drop(name) {
    memory.delete(PREFIX + name);
    storage?.removeItem(PREFIX + name);
  }

  function get(name) {
    const text = memory.get(PREFIX + name) ?? storage?.getItem(PREFIX + name);
    return text == null ? null : JSON.parse(text);
  }

  function names(kind) {
    const all = [...memory.keys(), ...(storage ? Object.keys(storage) : [])];
    const found = all.filter((name) => name.startsWith(`${PREFIX}${kind}:`)).map((name) => name.slice(PREFIX.length));
    return [...new Set(found)].sort();
  }

  const unsent = () => names("unsent").map((name) => ({ name, item: get(name) })).filter((one) => one.item);

  function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  const waitingFor = new Map(); // What to do when the server has answered an action of this page.

  function enqueue(item, then) {
    const once = newId();
    const last = names("unsent").map((name) => Number(name.split(":")[1]));
    const stamp = String(Math.max(Date.now(), ...last.map((one) => one + 1))).padStart(16, "0");
    if (then) waitingFor.set(once, then);
    notice = "";
    put(`unsent:${stamp}:${once}`, { ...item, once, desk });
    show();
    pump();
  }

  let pumping = false, again = false, timer = 0, failures = 0, trouble = "", lastSaved = "", notice = "";

  async function pump() {
    again = true;
    if (pumping) return;
    pumping = true;
    clearTimeout(timer);
    while (again) {
      again = false;
      for (let next = unsent()[0]; next; next = unsent()[0]) {
        if (await deliver(next)) continue;
        failures += 1;
        timer = setTimeout(pump, Math.min(500 * 2 ** (failures - 1), 8000));
        again = false;
        break;
      }
    }
    pumping = false;
    show();
  }

  // True if the entry is dealt with, false if it must be sent again.
  async function deliver({ name, item }) {
    let response, answer;
    try {
      response = await ask("/label/act", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Rankproof-Token": token },
        body: JSON.stringify(item),
      });
      answer = await response.json();
    } catch {
      trouble = "No connection to the server. If it was ended, start it again with the same command.";
      return false;
    }
    if (response.ok) {
      drop(name);
      failures = 0;
      trouble = answer.saved?.warning ?? "";
      lastSaved = answer.saved ? answer.saved.what : "";
      update(answer.query);
      show();
      waitingFor.get(item.once)?.(answer);
      waitingFor.delete(item.once);
      return true;
    }
    if (answer.reason === "token" && (await newToken())) return true;
    if (answer.reason === "token" || response.status >= 500 || response.status === 408) {
      trouble = answer.error;
      return false;
    }
    drop(name);
    put(name.replace("unsent:", "refused:"), { item, why: answer.error });
    waitingFor.delete(item.once);
    return true;
  }

  // A server that was started anew has another token; the cookie has it once somebody has opened the new address.
  async function newToken() {
    try {
      const response = await ask("/desk", {});
      const answer = await response.json();
      if (!response.ok || answer.desk !== desk || answer.token === token) return false;
      token = answer.token;
      document.querySelectorAll("input[name=token]").forEach((input) => { input.value = token; });
      return true;
    } catch {
      return false;
    }
  }

  const ask = (address, options) => fetch(address, {
    ...options,
    headers: { Accept: "application/json", ...options.headers },
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(20000),
  });

  function show() {
    const n = unsent().length;
    const saved = $("#saved");
    if (saved) {
      saved.dataset.state = n ? "unsent" : "saved";
      const text = n ? `${n} unsent` : notice || (lastSaved ? `saved ✓ ${lastSaved}` : "all saved ✓");
      if (saved.textContent !== text) saved.textContent = text;
    }
    const box = $("#trouble");
    const kept = n ? ` ${n} unsent ${n === 1 ? "judgment is" : "judgments are"} kept in this browser and sent again.` : "";
    const shownTrouble = trouble || (n && !saved ? "Not everything is sent yet." : "");
    const lines = shownTrouble ? [shownTrouble + (storage ? kept : kept && " Keep this page open.")] : [];
    const refused = names("refused");
    lines.push(...refused.map((name) => `Refused: ${get(name).item.action}. ${get(name).why}`));
    if (box.dataset.text !== lines.join("\n")) {
      box.dataset.text = lines.join("\n");
      box.replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
      if (refused.length) {
        const forget = Object.assign(document.createElement("button"), { type: "button", textContent: "Understood" });
        forget.addEventListener("click", () => { refused.forEach(drop); show(); });
        box.append(forget);
      }
      box.hidden = !lines.length;
    }
    paint();
  }

  addEventListener("online", pump);
  addEventListener("storage", show);
  addEventListener("beforeunload", (event) => {
    if (memory.size) event.preventDefault();
  });
  addEventListener("pageshow", (event) => { if (event.persisted) refresh(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });

  // The page of one query.
  const main = $("main.label");
  const docs = main ? [...main.querySelectorAll("article.document")] : [];
  const number = Number(main?.dataset.number);
  const queryId = main ? JSON.parse(main.dataset.query) : null;
  const spots = docs.map((doc) => JSON.stringify(JSON.parse(doc.dataset.spot)));
  const marks = docs.map((doc) => doc.dataset.mark);
  const listed = main?.dataset.view === "list";
  let current = Math.max(0, Number($("#doc-number")?.textContent) - 1);
  let noAnswer = $("#no-answer")?.getAttribute("aria-pressed") === "true";
  let movedAt = -1000;

  const WORDS = { cant_tell: "can't tell" };
  const GRADES = new Set(["relevant", "partial", "not-relevant", "cant_tell", "later"]);

  function pendingOf(i) {
    const mine = unsent().filter(({ item }) => GRADES.has(item.action) && JSON.stringify(item.spot) === spots[i]);
    return mine.length ? mine[mine.length - 1].item.action : "";
  }

  const said = (i) => { const action = pendingOf(i); return WORDS[action] ?? (action || marks[i]); };

  function paint() {
    docs.forEach((doc, i) => {
      const pending = pendingOf(i);
      const word = said(i);
      doc.dataset.mark = pending ? "" : marks[i];
      doc.querySelector(".mark-shown").textContent = pending ? `${word} · unsent` : word;
      const link = $(`[data-go="${i + 1}"]`);
      if (link) {
        link.dataset.mark = word;
        link.querySelector(".says").textContent = ` ${word}`;
      }
    });
  }

  function update(query) {
    if (!main || !query || query.id !== queryId) return;
    if (query.number !== number) { location.replace(`/label/${query.number}`); return; }
    query.marks.forEach((mark, i) => { marks[i] = mark; });
    $("#judged").textContent = query.judged;
    $("#left").textContent = query.left;
    noAnswer = query.no_answer;
    $("#no-answer").setAttribute("aria-pressed", String(noAnswer));
    $("#no-answer").value = noAnswer ? "answer" : "no_answer";
    $("#no-answer-shown").hidden = !noAnswer;
    $("#note-shown").textContent = query.note;
    $("#note-shown").hidden = !query.note;
    if (document.activeElement !== $("#note-text") && get(draftName()) === null) $("#note-text").value = query.note;
    paint();
  }

  async function refresh() {
    pump();
    if (!main) return;
    try {
      const response = await ask(`/label/${number}/state`, {});
      if (response.ok) update((await response.json()).query);
    } catch {
      // What is shown may be old until the connection is back; nothing depends on it.
    }
  }

  function setCurrent(i) {
    current = i;
    docs.forEach((doc, j) => doc.classList.toggle("current", j === i));
    $("#doc-number").textContent = i + 1;
    $("#view").href = `/label/${number}?doc=${i + 1}${listed ? "" : "&view=list"}`;
  }

  function go(i, push = true) {
    leave("");
    setCurrent(i);
    if (!listed) docs.forEach((doc, j) => { doc.hidden = j !== i; });
    document.querySelectorAll("[data-go]").forEach((link) => {
      if (Number(link.dataset.go) === i + 1) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    if (push) history.pushState({ doc: i }, "", `/label/${number}?doc=${i + 1}${listed ? "&view=list" : ""}`);
    docs[i].focus({ preventScroll: true });
    (listed ? docs[i] : main).scrollIntoView({ block: listed ? "nearest" : "start" });
  }

  const goTo = (place) => location.assign(`/label/${place.query}?doc=${Math.max(place.doc, 1)}${listed ? "&view=list" : ""}`);

  let leaving = ""; // The action after whose answer the page goes on to another query.

  function leave(after) {
    leaving = after;
    main.ariaBusy = after ? "true" : null;
  }

  function judge(action, i) {
    // What is typed ahead is meant for a document that is not here yet.
    if (!docs[i] || leaving) return;
    const once = said(i) && said(i) !== "later";
    const left = docs.map((_, j) => j).filter((j) => j > i && !said(j));
    const next = once && i + 1 < docs.length ? i + 1 : left[0];
    const mine = newId();
    enqueue({ action, spot: JSON.parse(spots[i]) }, (answer) => {
      if (leaving !== mine) return;
      if (answer.next.query === number || answer.finished) leave("");
      if (answer.finished) say("saved ✓ Everything is judged. q goes to the progress; k and K go back.");
      else if (answer.next.query !== number) goTo(answer.next);
      else go(answer.next.doc - 1);
    });
    if (next !== undefined) go(next);
    else leave(mine);
  }

  function step(action) {
    enqueue({ action }, (answer) => {
      if (!answer.saved) say(`There is nothing to ${action}.`);
      else if (answer.next.query !== number) goTo(answer.next);
      else if (docs.length) go(answer.next.doc - 1);
    });
  }

  function say(text) {
    notice = text;
    show();
  }

  const draftName = () => `draft:${queryId}`;

  function saveNote() {
    enqueue({ action: "note", spot: [queryId], text: $("#note-text").value });
    drop(draftName());
    (docs[current] ?? main).focus();
  }

  function flip() {
    const before = unsent().filter(({ item }) => item.action === "no_answer" && item.spot[0] === queryId);
    const now = before.length ? before[before.length - 1].item.flag : noAnswer;
    enqueue({ action: "no_answer", spot: [queryId], flag: !now });
  }

  const follow = (selector) => $(selector) ? $(selector).click() : say("There is no other query.");

  function open(dialog) {
    $(dialog).showModal();
    $(`${dialog} form button`).focus();
  }

  const DO = {
    undo: () => step("undo"),
    redo: () => step("redo"),
    no_answer: flip,
    answer: flip,
    note: () => { $("#note").open = true; $("#note-text").focus(); },
    full_text: () => { const full = docs[current]?.querySelector("details"); if (full) full.open = !full.open; },
    next_document: () => current + 1 < docs.length ? go(current + 1) : follow("#next-query"),
    previous_document: () => current > 0 ? go(current - 1) : follow("#previous-query"),
    next_query: () => follow("#next-query"),
    previous_query: () => follow("#previous-query"),
    guideline: () => $("#guideline") ? open("#guideline") : say("There is no guideline; --guideline FILE names one."),
    help: () => open("#help"),
    quit: () => location.assign("/"),
  };

  function act(action, i = current) {
    if (GRADES.has(action)) judge(action, i);
    else DO[action]?.();
  }

  function onKey(event) {
    const inField = event.target.closest("input, textarea, select");
    if (inField?.id === "note-text" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      saveNote();
    }
    if (inField?.type !== "checkbox" && inField && event.key === "Escape") (docs[current] ?? main).focus();
    if (inField || event.ctrlKey || event.altKey || event.metaKey || event.repeat || $("dialog[open]")) return;
    if (!$("#keys-on").checked) return;
    // A button, link or heading that opens has the space bar for itself.
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    if (event.key === "#") $("#jump").focus();
    else if (Object.hasOwn(keys, event.key)) act(keys[event.key]);
    else return;
    event.preventDefault();
  }

  function onClick(event) {
    const link = event.target.closest("[data-go]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      go(Number(link.dataset.go) - 1);
    }
    const button = event.target.closest("[data-do]");
    if (button) act(button.dataset.do);
    // The second click of two would meet the next document, which has come to stand in the same place.
    const pointed = event.detail > 0;
    if (pointed && event.target.closest(".grades button")) {
      if (event.detail > 1 || performance.now() - movedAt < 350) event.preventDefault();
      else movedAt = performance.now();
    }
  }

  function onSubmit(event) {
    if (!event.target.matches("form[data-act]") || !event.submitter) return;
    event.preventDefault();
    const action = event.submitter.value;
    if (action === "note") saveNote();
    else act(action, Number(event.target.closest("article")?.dataset.doc ?? current + 1) - 1);
  }

  const keys = main ? JSON.parse(main.dataset.keys) : {};
  if (main) {
    document.addEventListener("keydown", onKey);
    document.addEventListener("click", onClick);
    document.addEventListener("submit", onSubmit);
    addEventListener("popstate", () => {
      const doc = Number(new URLSearchParams(location.search).get("doc") ?? 1);
      if (docs[doc - 1]) go(doc - 1, false);
    });
    // In a list the keys belong to the document that the focus is in.
    if (listed) docs.forEach((doc, i) => doc.addEventListener("focusin", () => setCurrent(i)));
    $("#note-text").addEventListener("input", (event) => put(draftName(), event.target.value));
    const draft = get(draftName());
    if (draft !== null) { $("#note-text").value = draft; $("#note").open = true; }
    $("#keys-on").checked = get("keys-off") === null;
    $("#keys-on").addEventListener("change", (event) => event.target.checked ? drop("keys-off") : put("keys-off", true));
    if (docs.length) { docs[current]?.classList.add("current"); docs[current]?.focus({ preventScroll: !listed }); }
  }
  show();
  refresh();
})();
