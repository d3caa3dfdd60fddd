"use strict";
// Everything here is a convenience: without it, the page has all its texts.
(() => {
  const main = () => document.getElementById("content");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);
  let hits = [], at = -1;

  // Copy buttons.
  async function copy(button, pre) {
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(pre);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  }
  function addCopyButtons() {
    each("pre.text", (pre) => {
      const holder = document.createElement("div");
      holder.className = "copied";
      pre.replaceWith(holder);
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "copy";
      button.setAttribute("aria-label", `copy: ${pre.getAttribute("aria-label") || "text"}`);
      button.addEventListener("click", () => copy(button, pre));
      holder.append(pre, button);
    });
  }

  // Tabs: sections of which one is shown.
  function addTabs() {
    each("[data-tabs]", (group) => {
      const panels = [...group.querySelectorAll(":scope > [data-tab]")];
      if (panels.length < 2) return;
      const bar = document.createElement("div");
      bar.className = "tabs";
      bar.setAttribute("role", "tablist");
      bar.setAttribute("aria-label", group.dataset.tabs);
      const buttons = panels.map((panel) => {
        const button = document.createElement("button");
        button.type = "button";
        button.setAttribute("role", "tab");
        button.setAttribute("aria-controls", panel.id);
        button.textContent = panel.dataset.tab;
        button.addEventListener("click", () => show(panel));
        panel.setAttribute("role", "tabpanel");
        return button;
      });
      function show(chosen) {
        group.dataset.chosen = chosen.id;
        panels.forEach((panel, i) => {
          panel.hidden = panel !== chosen;
          buttons[i].setAttribute("aria-selected", String(panel === chosen));
          buttons[i].tabIndex = panel === chosen ? 0 : -1;
        });
      }
      bar.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const now = buttons.indexOf(document.activeElement);
        const next = (now + step + panels.length) % panels.length;
        show(panels[next]);
        buttons[next].focus();
      });
      bar.append(...buttons);
      group.prepend(bar);
      group.show = show;
      show(panels[panels.length - 1]);
    });
  }

  // Whatever an address or a search leads to is opened first.
  function reveal(node) {
    for (let one = node; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") one.open = true;
      if (one.dataset && one.dataset.tab && one.parentElement.show) one.parentElement.show(one);
    }
  }
  function follow() {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { return; }
    const target = name && document.getElementById(name);
    if (!target) return;
    reveal(target);
    target.scrollIntoView({ block: "start" });
  }

  // Search: in all texts, folded ones too.
  function look() {
    const wanted = search.value.trim().toLowerCase();
    hits = [];
    at = -1;
    each(".unmatched", (one) => one.classList.remove("unmatched"));
    if (window.CSS && CSS.highlights) CSS.highlights.clear();
    found.textContent = "";
    if (wanted.length < 2) return;
    const walker = document.createTreeWalker(main(), NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && hits.length < 5000) {
      const node = walker.currentNode, text = node.data.toLowerCase();
      if (node.parentElement.closest(".peek, .copy, svg")) continue;
      for (let i = text.indexOf(wanted); i >= 0 && hits.length < 5000; i = text.indexOf(wanted, i + wanted.length)) {
        if (i + wanted.length > node.length) break;
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + wanted.length);
        hits.push(range);
      }
    }
    if (window.CSS && CSS.highlights && window.Highlight) CSS.highlights.set("found", new Highlight(...hits));
    const within = new Set(hits.map((range) => range.startContainer.parentElement.closest(".card")));
    each(".card", (card) => card.classList.toggle("unmatched", !within.has(card)));
    found.textContent = hits.length ? `${hits.length} found` : "nothing found";
  }
  function go(step) {
    if (!hits.length) return;
    at = (at + step + hits.length) % hits.length;
    const place = hits[at].startContainer.parentElement;
    reveal(place);
    place.scrollIntoView({ block: "center" });
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(hits[at].cloneRange());
    found.textContent = `${at + 1} of ${hits.length}`;
  }
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 150); });
  search.form.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); if (!hits.length) look(); go(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { search.value = ""; look(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.target.closest("input, textarea")) {
      event.preventDefault();
      search.focus();
    }
  });

  function dress() {
    addCopyButtons();
    addTabs();
  }

  // Live: the page is asked for again, and what was open stays open.
  function update(fresh) {
    const open = new Map();
    each("details[id]", (one) => open.set(one.id, one.open), main());
    const tabs = new Map();
    each("[data-tabs]", (one) => tabs.set(one.id, [one.dataset.chosen, one.children.length]), main());
    const typed = new Map();
    each("textarea[id]", (one) => typed.set(one.id, one.value), main());
    const focus = document.activeElement && document.activeElement.id;
    const [x, y] = [scrollX, scrollY];
    document.title = fresh.title;
    main().replaceChildren(...document.importNode(fresh.getElementById("content"), true).childNodes);
    each("details[id]", (one) => { if (open.has(one.id)) one.open = open.get(one.id); }, main());
    each("textarea[id]", (one) => { one.value = typed.get(one.id) || ""; }, main());
    dress();
    for (const [id, [chosen, many]] of tabs) {
      const group = document.getElementById(id), panel = chosen && document.getElementById(chosen);
      if (group && group.show && panel && group.children.length === many) group.show(panel);
    }
    if (focus && document.getElementById(focus)) document.getElementById(focus).focus({ preventScroll: true });
    if (search.value) look();
    scrollTo({ left: x, top: y, behavior: "instant" });
  }
  function refresh() {
    return new Promise((done) => {
      const asked = new XMLHttpRequest();
      asked.open("GET", location.pathname);
      asked.responseType = "document";
      asked.onloadend = () => { if (asked.status === 200 && asked.response) update(asked.response); done(); };
      asked.send();
    });
  }
  const live = document.body.dataset.live, sign = document.getElementById("live");
  if (live && window.EventSource) {
    const source = new EventSource(live);
    let asking = Promise.resolve();
    source.addEventListener("change", () => { asking = asking.then(refresh); });
    source.addEventListener("end", () => {
      source.close();
      asking = asking.then(refresh).then(() => { sign.textContent = "ended"; });
    });
    source.onerror = () => {
      source.close();
      sign.textContent = "no longer live: the server has ended";
    };
  }

  search.form.hidden = false;
  dress();
  addEventListener("hashchange", follow);
  follow();
})();
