// Page of a table: sends clicks to the server, and morphs the changed pieces that it sends into the page.
"use strict";
(() => {
  const main = document.getElementById("table");
  const { here, view } = main.dataset;
  let { state } = main.dataset; // the name of the state that the page shows
  let serial = 0; // the number of the last action
  let edited = 0; // the number of the last action that changes what OK chooses
  let seen = 0; // the number of the last action whose effect the page shows
  let confirming = null; // the state in which OK was pressed, until the page shows what it chooses
  const offline = document.getElementById("gone");
  const rules = document.getElementById("rules");
  const rulesButton = document.querySelector("nav [data-show]");
  const frame = rules.querySelector("iframe");
  let opening = null; // the window that was opened last, until it is on the page
  let beeps = 0;
  let sound = false;
  try { sound = localStorage.getItem("sound") === "on"; } catch { /* no storage: silence */ }

  // --- from the server

  let failures = 0;
  function listen() {
    const source = new EventSource(`${here}/events?view=${view}`);
    source.addEventListener("pieces", (event) => {
      failures = 0;
      offline.hidden = true;
      const { pieces, beeps: now, state: shown, serial: done } = JSON.parse(event.data);
      for (const [name, html] of Object.entries(pieces)) put(name, html);
      state = shown;
      shows(done);
      if (now > beeps && sound) beep();
      beeps = now;
    });
    source.addEventListener("reload", () => location.reload());
    source.addEventListener("error", () => {
      offline.hidden = false;
      if (source.readyState === EventSource.CLOSED) {
        failures += 1;
        setTimeout(listen, Math.min(8000, 500 * failures));
      }
    });
  }

  function put(name, html) {
    const place = document.getElementById(`f-${name}`);
    if (!place) return;
    const log = name === "log";
    const atEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 40;
    Idiomorph.morph(place, html, { morphStyle: "innerHTML", ignoreActiveValue: false });
    if (name === "base") place.closest(".map").classList.toggle("none", !html);
    if (name === "windows") bringIntoView();
    if (log && atEnd) place.scrollTop = place.scrollHeight;
  }

  function bringIntoView() {
    const found = opening && document.getElementById(`window-${opening}`);
    if (!found) return;
    opening = null;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    found.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  }

  // --- to the server

  let last = Promise.resolve();
  function act(action, data) {
    serial += 1;
    if (edits.has(action)) edited = serial;
    const clicked = { state, serial, ...data };
    last = last.then(() => send(action, clicked)).catch(() => { offline.hidden = false; });
  }
  const edits = new Set(["point", "option", "slot", "number", "more", "cancel"]);

  // Makes the choice that OK names, once the page shows all that was picked for it.
  function confirm(pressed) {
    confirming = edited > seen ? pressed : null;
    if (confirming !== null) return;
    const ok = document.querySelector("#f-prompt .ok");
    if (!ok || !ok.disabled) act("choose", { ...(ok ? given(ok) : {}), state: pressed });
  }
  function shows(action) {
    seen = Math.max(seen, action);
    if (confirming !== null) confirm(confirming);
  }
  async function send(action, data) {
    const answer = await fetch(`${here}/act`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ view, do: action, ...data }),
    });
    if (answer.status === 404) location.reload();
    setTimeout(() => { // the page hears nothing: what OK chooses is not known, so press it again
      if (data.serial >= edited) confirming = null;
      seen = Math.max(seen, data.serial);
    }, 3000);
    const result = answer.ok ? await answer.json() : {};
    if (result.go) location.assign(result.go);
  }

  const own = new Set(["do", "change"]);
  function given(element) {
    const data = Object.fromEntries(Object.entries(element.dataset).filter(([name]) => !own.has(name)));
    return data.choice ? { ...data, choice: JSON.parse(data.choice) } : data;
  }

  document.addEventListener("click", (event) => {
    const shown = event.target.closest("[data-show],[data-rules]");
    if (shown) return shown.dataset.show && !rules.hidden ? closeRules() : showRules(shown.dataset.rules);
    if (event.target.closest("[data-sound]")) return setSound(!sound);
    const element = event.target.closest("[data-do]");
    if (!element || element.disabled || element.getAttribute("aria-disabled") === "true") return;
    if (element.dataset.do === "toggle") opening = element.getAttribute("aria-pressed") === "true" ? null : element.dataset.panel;
    if (element.matches("#f-prompt .ok")) confirm(state);
    else act(element.dataset.do, given(element));
  });

  document.addEventListener("change", (event) => {
    const element = event.target.closest("[data-change]");
    if (element && element.value !== "") act(element.dataset.change, { ...given(element), value: element.value });
  });

  // --- keys

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.matches("input, select, textarea");
    const node = event.target.closest("g[data-do]");
    if (node && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      act(node.dataset.do, given(node));
    } else if (node && event.key.startsWith("Arrow")) {
      event.preventDefault();
      step(node, event.key);
    } else if (event.key === "Escape") {
      if (rules.hidden) act("cancel", {});
      else closeRules();
    } else if (field && event.key === "Enter" && event.target.type === "number") {
      event.target.dispatchEvent(new Event("change", { bubbles: true }));
      confirm(state);
    } else if (!field && event.key === "l") {
      act("list", {});
    } else if (!field && event.key === "u") {
      act("undo", {});
    } else if (!field && event.key === "o") {
      confirm(state);
    }
  });

  // Moves the focus from a node of the board to the nearest one in the direction of an arrow key.
  function step(node, key) {
    const middle = (each) => {
      const box = each.querySelector(".hit").getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = middle(node);
    const sideways = key === "ArrowLeft" || key === "ArrowRight";
    const sign = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
    let best = null;
    let least = Infinity;
    for (const other of document.querySelectorAll('g.node[tabindex="0"]')) {
      if (other === node) continue;
      const [ox, oy] = middle(other);
      const ahead = sign * (sideways ? ox - x : oy - y);
      const aside = Math.abs(sideways ? oy - y : ox - x);
      if (ahead > 0 && ahead + 2 * aside < least) {
        least = ahead + 2 * aside;
        best = other;
      }
    }
    if (best) best.focus();
  }

  // --- sound and rules

  function setSound(on) {
    sound = on;
    try { localStorage.setItem("sound", on ? "on" : "off"); } catch { /* not remembered after a reload */ }
    document.querySelector("[data-sound]").setAttribute("aria-pressed", String(on));
    if (on) beep();
  }
  function beep() {
    const context = new AudioContext();
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.frequency.value = 330;
    volume.gain.setValueAtTime(0.12, context.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.25);
    tone.connect(volume).connect(context.destination);
    tone.start();
    tone.stop(context.currentTime + 0.26);
    tone.onended = () => context.close();
  }
  function showRules(anchor) {
    rules.hidden = false;
    rulesButton.setAttribute("aria-expanded", "true");
    frame.src = frame.dataset.src + (anchor ? `#${anchor}` : "");
  }
  function closeRules() {
    rules.hidden = true;
    rulesButton.setAttribute("aria-expanded", "false");
    rulesButton.focus();
  }
  frame.addEventListener("load", () => {
    frame.contentWindow.addEventListener("keydown", (event) => { if (event.key === "Escape") closeRules(); });
  });

  document.querySelector("[data-sound]").setAttribute("aria-pressed", String(sound));
  const log = document.getElementById("f-log");
  log.scrollTop = log.scrollHeight;
  listen();
})();
