"use strict";
(() => {
  const table = document.querySelector("#queries");
  if (!table) return;
  const data = JSON.parse(document.querySelector("#data").textContent);
  const body = table.tBodies[0];
  const filter = document.querySelector("#filter");
  const picks = Object.fromEntries(["measure", "group", "pipeline", "outcome"].map((name) => [name, document.querySelector(`#by-${name}`)]));
  const keys = document.querySelector("#keys");
  const heads = [...table.querySelectorAll("th[data-k]")];
  const tall = heads.filter((head) => head.rowSpan === 2);
  const last = tall.filter((head) => head.dataset.k === "why");
  // The order in which the cells of a row stand: those that head two rows come first, but for the last.
  const columns = [...tall.filter((head) => !last.includes(head)), ...heads.filter((head) => head.rowSpan === 1), ...last];
  const hasGroup = columns.some((head) => head.dataset.k === "group");
  const more = new Map();
  let measure = data.main;

  const isText = (column) => ["query", "group", "why"].includes(columns[column].dataset.k);
  const rows = [...body.rows].map((row, i) => ({
    row, i,
    details: row.querySelector("details"),
    summary: row.querySelector("summary"),
    told: row.dataset.o.split(" "),
    group: hasGroup ? row.cells[1].textContent : "",
    words: [...row.cells].filter((_, column) => isText(column)).map((cell) => cell.textContent).concat(data.rows[i].slice(0, 3)).join(" ").toLowerCase(),
  }));

  const make = (name, text = "", kind = "") => {
    const made = document.createElement(name);
    if (text !== "") made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const minus = (text) => text.replace("-", "−");
  const shown = (value, decimals) => (value % 1 === 0 && Math.abs(value) > 1 ? value.toLocaleString("en") : value.toFixed(decimals));
  const signed = (value, decimals) => {
    const text = value.toFixed(decimals);
    return Number(text) === 0 ? (0).toFixed(decimals) : minus(value > 0 ? `+${text}` : text);
  };
  const kindOf = (by) => (by < 0 ? "w" : by > 0 ? "b" : "");

  // The drill-down of a query.
  const named = (place) => {
    const made = make("span");
    made.append(make("span", data.docs[place], "doc"));
    const title = data.titles[place];
    if (title && title !== data.docs[place]) made.append(` ${title}`);
    return made;
  };
  const gradeOf = (grade) => make("span", grade === null ? "unjudged" : String(grade), `grade ${grade === null ? "" : grade > 0 ? "yes" : "no"}`);
  // A sentence has gaps: one character stands for a number, another for a document.
  const sentence = ([place, ...filled]) => {
    let next = 0;
    return data.sentences[place].replace(/[\ue000\ue001]/g, (gap) => {
      const found = filled[next++];
      return gap === "\ue000" ? found : data.docs[found];
    });
  };
  const misses = ["", "The first result is not relevant.", "The first result answers in part.", "There is no result."];

  const answerOf = (name, [values = [], before = [], returned = [], total = 0, , missed = 0, kind = 0, evidence = [], reason = ""]) => {
    const made = make("div");
    made.append(make("h3", name));
    if (reason) made.append(make("p", reason, "notice"));
    if (values.length) {
      const figures = make("dl");
      values.forEach((value, i) => {
        const pair = make("div");
        const said = make("dd", shown(value / 1e3, 3));
        if (before.length) {
          const by = (value - before[i]) / 1e3;
          said.append(" ", make("span", signed(by, 3), { w: "worse", b: "better" }[kindOf(by)] || "same"));
        }
        pair.append(make("dt", data.measures[i]), said);
        figures.append(pair);
      });
      made.append(figures);
    }
    const list = make("ol");
    returned.forEach((one) => {
      const [place, grade] = typeof one === "number" ? [one, null] : one;
      const item = make("li");
      item.append(gradeOf(grade), " ", named(place));
      list.append(item);
    });
    const many = returned.length;
    made.append(many ? list : make("p", "Nothing was returned."));
    if (total > many) made.append(make("p", `${(total - many).toLocaleString("en")} more were returned.`, "faint"));
    const why = [misses[missed], kind ? `${data.classes[kind - 1]}:` : "", evidence.map(sentence).join("; ")].filter(Boolean).join(" ");
    if (why) made.append(make("p", why));
    return made;
  };

  const expectedOf = (query, expected, total, answers) => {
    const made = make("div", "", "scroll");
    made.tabIndex = 0;
    made.setAttribute("role", "region");
    made.setAttribute("aria-label", `Expected documents of ${query}`);
    const inner = make("table");
    inner.append(make("caption", `Expected documents and their ranks${total > expected.length ? `; ${expected.length} of ${total} are listed` : ""}`));
    const head = inner.createTHead().insertRow();
    ["document", "grade", ...data.pipelines].forEach((name) => {
      const cell = make("th", name);
      cell.scope = "col";
      head.append(cell);
    });
    const lines = inner.createTBody();
    expected.forEach(([place, grade, ...ranks]) => {
      const line = lines.insertRow();
      const first = make("th");
      first.scope = "row";
      first.append(named(place));
      const level = make("td");
      level.append(gradeOf(grade));
      line.append(first, level);
      ranks.forEach(([rank, ...after], i) => {
        const names = data.stages[answers[i][4] || 0] || [];
        const cell = make("td", rank ? `rank ${rank}` : "not returned");
        if (names.length > 1 || (after.length && after.at(-1) !== rank)) {
          cell.append(make("br"), make("small", names.map((name, s) => `${name} ${after[s] || "–"}`).join(" → ")));
        }
        line.append(cell);
      });
    });
    made.append(inner);
    return made;
  };

  const drill = (one) => {
    const [id, notes, state, answers, expected, total] = data.rows[one.i];
    const made = make("tr", "", "more");
    const cell = make("td");
    cell.colSpan = columns.length;
    const about = make("dl");
    [["query", id], ["state", state], ["notes", notes]].forEach(([name, text]) => {
      if (!text) return;
      const pair = make("div");
      pair.append(make("dt", name), make("dd", text));
      about.append(pair);
    });
    if (about.childElementCount) cell.append(about);
    const side = make("div", "", "answers");
    answers.forEach((answer, i) => side.append(answerOf(data.pipelines[i], answer)));
    cell.append(side);
    cell.append(expected.length ? expectedOf(one.summary.textContent, expected, total, answers) : make("p", "No relevant document is known.", "faint"));
    made.append(cell);
    return made;
  };

  const follow = (one) => {
    const there = more.get(one);
    one.row.classList.toggle("open", one.details.open);
    if (one.details.open && !there) {
      const made = drill(one);
      made.hidden = one.row.hidden;
      more.set(one, made);
      one.row.after(made);
    } else if (!one.details.open && there) {
      there.remove();
      more.delete(one);
    }
  };
  const toggle = (one, open = !one.details.open) => {
    one.details.open = open;
    follow(one);
  };

  // Filters.
  const status = document.querySelector("#shown");
  const fits = (one, words, group, pipeline, outcome) => {
    if (group && one.group !== group) return false;
    if (!words.every((word) => one.words.includes(word))) return false;
    if (!outcome) return true;
    return (pipeline === "" ? one.told : [one.told[Number(pipeline)]]).some((told) => told.includes(outcome));
  };
  const sift = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [group, pipeline, outcome] = ["group", "pipeline", "outcome"].map((name) => (picks[name] ? picks[name].value : ""));
    let n = 0;
    rows.forEach((one) => {
      const kept = fits(one, words, group, pipeline, outcome);
      one.row.hidden = !kept;
      if (more.has(one)) more.get(one).hidden = !kept;
      n += kept ? 1 : 0;
    });
    const all = rows.length.toLocaleString("en");
    status.textContent = n === rows.length ? `${all} ${n === 1 ? "query" : "queries"}` : `${n.toLocaleString("en")} of ${all} queries`;
  };

  // Order.
  const keyOf = (one, column, text) => {
    const said = one.row.cells[column].textContent;
    if (text) return said.toLowerCase();
    const number = Number.parseFloat(said.replace("−", "-").replaceAll(",", ""));
    return Number.isNaN(number) ? null : number;
  };
  const compare = (a, b) => {
    if (a === b) return 0;
    if (a === null || a === "") return 2;
    if (b === null || b === "") return -2;
    return a < b ? -1 : 1;
  };
  const arrange = (column, direction) => {
    const text = isText(column);
    const keyed = rows.map((one) => [keyOf(one, column, text), one]);
    // What has no value comes last in both directions.
    keyed.sort(([a, one], [b, other]) => {
      const found = compare(a, b);
      return Math.abs(found) === 2 ? found : found * direction || one.i - other.i;
    });
    const made = document.createDocumentFragment();
    keyed.forEach(([, one]) => {
      made.append(one.row);
      if (more.has(one)) made.append(more.get(one));
    });
    body.append(made);
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    columns[column].setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  };
  columns.forEach((head, column) => {
    const button = head.querySelector("button");
    button.disabled = false;
    button.addEventListener("click", () => arrange(column, head.getAttribute("aria-sort") === "ascending" ? -1 : 1));
  });

  // Another measure in the columns.
  const measureBy = (which) => {
    measure = which;
    rows.forEach((one) => {
      let pipeline = -1;
      const told = [];
      columns.forEach((head, column) => {
        const cell = one.row.cells[column];
        if (head.dataset.k === "value") {
          pipeline += 1;
          const [values = []] = data.rows[one.i][3][pipeline];
          cell.textContent = values.length ? shown(values[measure] / 1e3, 3) : "–";
        } else if (head.dataset.k === "change") {
          const [values = [], before = []] = data.rows[one.i][3][pipeline];
          const by = before.length ? (values[measure] - before[measure]) / 1e3 : null;
          cell.textContent = by === null ? "–" : signed(by, 3);
          cell.className = kindOf(by);
          told[pipeline] = cell.className;
        }
      });
      one.told = one.told.map((word, i) => word.replace(/[wb.]/g, "") + (told[i] || "") || ".");
    });
    heads.forEach((head) => {
      if (head.dataset.k === "value") head.querySelector("button").textContent = data.measures[measure];
      head.removeAttribute("aria-sort");
    });
    table.caption.textContent = `${data.measures[measure]} of each query; 1st is the rank of the first relevant document`;
    sift();
  };

  // Keys.
  const inOrder = () => [...body.rows].filter((row) => row.dataset.o !== undefined && !row.hidden);
  const move = (by) => {
    const order = inOrder();
    if (!order.length) return;
    const here = document.activeElement.closest ? document.activeElement.closest("tr") : null;
    const at = here === null ? -1 : order.indexOf(here.dataset.o === undefined ? here.previousElementSibling : here);
    const next = order[at === -1 ? (by > 0 ? 0 : order.length - 1) : Math.min(order.length - 1, Math.max(0, at + by))];
    next.querySelector("summary").focus();
  };
  const current = () => rows.find((one) => one.summary === document.activeElement);
  const single = keys.querySelector("#single");
  const help = () => (keys.open ? keys.close() : keys.showModal());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest ? event.target.closest("input, select, textarea") : null;
    if (event.target === filter && event.key === "Escape") {
      event.preventDefault();
      if (filter.value === "") filter.blur();
      filter.value = "";
      sift();
      return;
    }
    if (field && !(event.target === filter && event.key === "Enter")) return;
    // Whoever speaks to the page, or hits keys by accident, can do without them; the arrows need the table.
    if (!single.checked && event.key.length === 1) return;
    const inTable = Boolean(current());
    const actions = {
      "/": () => { filter.focus(); filter.select(); },
      "?": help,
      j: () => move(1),
      k: () => move(-1),
      o: () => current() && toggle(current()),
    };
    if (inTable) Object.assign(actions, { ArrowDown: () => move(1), ArrowUp: () => move(-1) });
    if (event.target === filter) Object.assign(actions, { Enter: () => move(1) });
    if (keys.open && event.key !== "?") return;
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  });

  // On paper, what got worse or was missed is open.
  const folds = [...document.querySelectorAll("details.fold")];
  let printed = [];
  let unfolded = null;
  const unfold = () => {
    if (unfolded) return;
    unfolded = folds.filter((one) => !one.open);
    unfolded.forEach((one) => { one.open = true; });
    printed = rows.filter((one) => !one.details.open && one.told.some((told) => /[wmn]/.test(told)));
    printed.forEach((one) => toggle(one, true));
  };
  const fold = () => {
    printed.forEach((one) => toggle(one, false));
    (unfolded || []).forEach((one) => { one.open = false; });
    printed = [];
    unfolded = null;
  };
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
  const paper = window.matchMedia("print");
  paper.addEventListener("change", () => (paper.matches ? unfold() : fold()));

  table.addEventListener("toggle", (event) => follow(rows.find((one) => one.details === event.target)), true);
  [filter, ...Object.values(picks).filter((pick) => pick && pick !== picks.measure)].forEach((one) => one.addEventListener("input", sift));
  picks.measure.value = String(measure);
  picks.measure.addEventListener("input", () => measureBy(Number(picks.measure.value)));
  document.querySelector("#help").addEventListener("click", help);
  keys.querySelector("button").addEventListener("click", () => keys.close());
  rows.forEach((one) => { one.details.open = false; });
  document.documentElement.classList.add("on");
})();
