// Keeps a page of the dashboard up to date.
//
// The server says on /events that the figures have changed. The page is fetched again then, and
// each element with `data-live` takes the place of the one of the same name. The element with the
// focus and what is selected in it are left alone, and open details stay open. A hidden page stops
// listening: nobody looks at it.
"use strict";

(() => {
  let source = null;
  let fetching = false;
  let again = false;

  function holdsFocus(element) {
    const selection = document.getSelection();
    return (
      element.contains(document.activeElement) ||
      (selection !== null && !selection.isCollapsed && selection.containsNode(element, true))
    );
  }

  function takeOver(fresh) {
    document.title = fresh.title;
    for (const old of document.querySelectorAll("[data-live]")) {
      const name = CSS.escape(old.dataset.live);
      const found = fresh.querySelector(`[data-live="${name}"]`);
      if (found === null || found.outerHTML === old.outerHTML || holdsFocus(old)) {
        continue;
      }
      const open = Array.from(old.querySelectorAll("details"), (one) => one.open);
      const next = document.importNode(found, true);
      next.querySelectorAll("details").forEach((one, place) => {
        one.open = open[place] ?? one.open;
      });
      old.replaceWith(next);
    }
  }

  async function refresh() {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (answer.ok) {
        const text = await answer.text();
        takeOver(new DOMParser().parseFromString(text, "text/html"));
      }
    } catch {
      // The server has ended, or the network is gone: the stream notices and connects again.
    }
    fetching = false;
    if (again) {
      again = false;
      refresh();
    }
  }

  // A stream ends every few minutes, and the browser opens it again: only a server that does not
  // answer is lost.
  async function showIfLost() {
    const answer = await fetch("/healthz").catch(() => null);
    const lost = document.getElementById("lost");
    if (lost !== null) {
      lost.hidden = answer !== null;
    }
    const state = document.querySelector('[data-live="state"]');
    if (answer === null && state !== null) {
      state.textContent = "not connected";
    }
  }

  function listen() {
    if (source !== null || document.hidden || document.querySelector("main [data-live]") === null) {
      return;
    }
    source = new EventSource("/events");
    source.addEventListener("change", refresh);
    source.addEventListener("open", showIfLost);
    source.addEventListener("error", showIfLost);
  }

  function stop() {
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : listen()));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
})();
