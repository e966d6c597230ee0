// Keeps what an owner's page shows fresh: asks for the same page again and takes over the parts that live. It rests
// while nobody sees the page, and where less motion is wanted it asks seldom.
"use strict";
(() => {
  const EVERY_MS = 10_000, SELDOM_MS = 60_000;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let timer = 0;

  function plan() {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(refresh, calm.matches ? SELDOM_MS : EVERY_MS);
  }

  function inUse(part) {
    const chosen = document.getSelection();
    return part.contains(document.activeElement) || (chosen && !chosen.isCollapsed && part.contains(chosen.anchorNode));
  }

  function renew(part, fresh) {
    const open = [...part.querySelectorAll("details")].map((each) => each.open);
    fresh.querySelectorAll("details").forEach((each, number) => { each.open = open[number] ?? each.open; });
    part.replaceWith(document.adoptNode(fresh));
  }

  async function refresh() {
    const parts = [...document.querySelectorAll("[data-live]")];
    if (!parts.length || document.hidden) return;
    try {
      const answer = parts.every(inUse) ? null : await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer && answer.status === 401) return; // logged out: what is shown stays as it was
      if (answer && answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.querySelectorAll("[data-live]");
        parts.forEach((part, number) => { if (fresh[number] && !inUse(part)) renew(part, fresh[number]); });
      }
    } catch {
      // the node is away: it may be back at the next time
    }
    plan();
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
  plan();
})();
