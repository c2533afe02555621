"use strict";
(() => {
  const body = document.body;
  const root = body.dataset.root || "";
  const live = "live" in body.dataset;
  const main = document.getElementById("main");
  const find = document.querySelector(".find input");
  const isTyping = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");

  // The rows of a page, from the keyboard.
  let at = -1;
  const rows = () => [...main.querySelectorAll(".row")];
  const go = (step) => {
    const all = rows();
    if (!all.length) return;
    at = Math.max(0, Math.min(all.length - 1, at + step));
    all.forEach((row, index) => row.classList.toggle("at", index === at));
    const link = all[at].querySelector("a.title");
    link?.focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping()) return document.activeElement.blur();
    if (isTyping()) {
      if (event.key === "ArrowDown" && document.activeElement === find) { event.preventDefault(); at = -1; go(1); }
      return;
    }
    const keys = {
      "/": () => { find.focus(); find.select(); },
      o: () => document.querySelector("a.open")?.click(),
      f: () => document.getElementById("filter")?.focus(),
      j: () => go(1),
      k: () => go(-1),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // A part of a page as it is now: what is the same stays, so that what is open stays open and nothing jumps.
  const same = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id || "") === (other.id || "");
  const renew = (old, now) => {
    if (old.isEqualNode(now)) return;
    if (old.nodeType !== 1) { old.nodeValue = now.nodeValue; return; }
    // A part that is here already and has not grown is not asked for again.
    const link = now.nodeName === "DETAILS" && now.querySelector(":scope > a.part");
    if (link && !old.querySelector(":scope > a.part")) {
      if (old.firstChild.isEqualNode(now.firstChild)) return;
      if (old.open) { fill(old, link.getAttribute("href")); return; }
    }
    const keeps = old.nodeName === "DETAILS" ? ["open"] : ["INPUT", "TEXTAREA"].includes(old.nodeName) ? ["value"] : [];
    for (const { name } of [...old.attributes]) if (!now.hasAttribute(name) && !keeps.includes(name)) old.removeAttribute(name);
    for (const { name, value } of now.attributes) if (!keeps.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    let child = old.firstChild;
    for (const next of [...now.childNodes]) {
      if (child && same(child, next)) { renew(child, next); child = child.nextSibling; continue; }
      let later = child;
      while (later && !(later.id && same(later, next))) later = later.nextSibling;
      if (later) {
        while (child !== later) { const gone = child; child = child.nextSibling; gone.remove(); }
        renew(child, next);
        child = child.nextSibling;
      } else {
        const added = document.importNode(next, true);
        if (added.classList && child === null) added.classList.add("new");
        old.insertBefore(added, child);
      }
    }
    while (child) { const gone = child; child = child.nextSibling; gone.remove(); }
  };
  const page = async (address) => {
    const answer = await fetch(address, { headers: { Accept: "text/html" } });
    return new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
  };

  // A part of a long page is asked of the server when it is opened.
  const fill = (part, address) => page(address).then((now) => {
    const same = now?.querySelector(`#${part.id}`);
    if (same) renew(part, same);
  }).catch(() => {});
  main.addEventListener("toggle", (event) => {
    const link = event.target.open && event.target.querySelector(":scope > a.part");
    if (link) fill(event.target, link.href);
  }, true);
  const place = decodeURIComponent(location.hash.slice(1));
  if (live && place && !location.search && main.querySelector("a.part") && !document.getElementById(place)) {
    location.replace(`?at=${encodeURIComponent(place)}${location.hash}`);
  }

  // Search as one types.
  let asked = 0;
  const show = (words) => {
    const mine = ++asked;
    const address = `${root}search.html?typed=1&q=${encodeURIComponent(words)}`;
    page(address).then((now) => {
      if (mine !== asked || !now) return;
      renew(main, now);
      at = -1;
      history.replaceState(null, "", `${root}search.html?q=${encodeURIComponent(words)}`);
    }).catch(() => {});
  };
  const query = new URLSearchParams(location.search).get("q") || "";
  if (/search\.html$/.test(location.pathname)) { find.value = query; if (!query) find.focus(); }
  let wait;
  if (live) {
    find.addEventListener("input", () => {
      clearTimeout(wait);
      if (find.value.trim()) wait = setTimeout(() => show(find.value), 60);
    });
  } else if (window.cruIndex) {
    const results = document.getElementById("results");
    const text = (tag, words, name) => { const made = document.createElement(tag); made.textContent = words; if (name) made.className = name; return made; };
    const look = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return;
      const hits = [];
      for (const [address, title, kind, about] of window.cruIndex) {
        const whole = `${title} ${about}`.toLowerCase();
        if (words.every((word) => whole.includes(word))) hits.push([address, title, kind, about]);
        if (hits.length === 200) break;
      }
      const list = text("ul", "", "rows hits");
      for (const [address, title, kind, about] of hits) {
        const row = text("li", "", "row");
        const link = text("a", title, "title");
        link.href = root + address;
        row.append(link, text("span", kind, "about"), text("p", about.slice(0, 300), "excerpt"));
        list.append(row);
      }
      results.replaceChildren(hits.length ? list : text("p", "Nothing matches.", "empty"));
      at = -1;
    };
    find.addEventListener("input", look);
    if (query) look();
  }
  if (!live) return;

  // What a step said, where it stands.
  main.addEventListener("click", (event) => {
    const link = event.target.closest("a.more");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const open = link.nextElementSibling;
    if (open?.classList.contains("whole")) return open.remove();
    fetch(link.href).then((answer) => answer.text()).then((words) => {
      const whole = document.createElement("pre");
      whole.className = "whole";
      whole.textContent = words;
      link.after(whole);
    }).catch(() => {});
  });

  // The page follows its notes.
  const count = document.getElementById("waiting");
  const waiting = () => fetch(`${root}waiting`).then((answer) => answer.text()).then((words) => {
    const items = Number(words);
    count.hidden = !(items > 0);
    count.textContent = items > 0 ? String(items) : "";
  }).catch(() => {});
  waiting();
  let stale = false;
  const follow = async () => {
    if (document.hidden) { stale = true; return; }
    stale = false;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 40;
    const address = location.href.split("#")[0];
    const now = await page(address).catch(() => null);
    // By now another page may be here: that of a search.
    if (!now || location.href.split("#")[0] !== address || isTyping() && main.contains(document.activeElement)) return;
    renew(main, now);
    if (atEnd && main.querySelector(".meta")) scrollTo({ top: document.documentElement.scrollHeight });
    waiting();
  };
  const changes = new EventSource(`${root}changes`);
  changes.onmessage = () => follow();
  document.addEventListener("visibilitychange", () => { if (!document.hidden && stale) follow(); });
  addEventListener("pagehide", () => changes.close());
})();
