// Page of a table: sends clicks to the server, and morphs the changed pieces that it sends into the page.
const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const main = $("#table"), { here, view } = main.dataset;
let { state } = main.dataset; // the name of the state that the page shows
let serial = 0; // the number of the last action
let edited = 0; // the number of the last action that changes what OK chooses
let seen = 0; // the number of the last action whose effect the page shows
let confirming = null; // the state in which OK was pressed, until the page shows what it chooses
let opening = null; // the window that was opened last, until it is on the page
let beeps = 0;
let mine = true; // whether it is the user's turn; nothing is new when the page opens
const offline = $("#gone"), rules = $("#rules"), frame = $("#rules iframe"), prompt = $("#f-prompt");
const icon = $("link[rel=icon]"), { title } = document;
const EDITS = new Set(["point", "option", "slot", "number", "more", "cancel", "draft", "ahead"]);
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// --- from the server
function listen() {
  const source = new EventSource(`${here}/events?view=${view}`);
  source.addEventListener("pieces", ({ data }) => {
    offline.hidden = true;
    const { pieces, beeps: now, state: shown, serial: done, turn } = JSON.parse(data);
    for (const [name, html] of Object.entries(pieces)) put(name, html);
    state = shown;
    shows(done);
    if (now > beeps) beep();
    beeps = now;
    takesTurn(turn);
    openTab();
  });
  source.addEventListener("open", front);
  source.addEventListener("reload", () => location.reload());
  source.addEventListener("error", () => {
    offline.hidden = false;
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  });
}

// Opens the view that answers a decision, once for each, on a small page.
let tabbed = null;
function openTab(tab) {
  const tools = $("#f-prompt .tools")?.dataset;
  const now = tools ? `${tools.at} ${tools.tab}` : "";
  if (!tab && now === tabbed) return;
  tabbed = now;
  main.dataset.tab = tab || (tools ?? $(".tabs button").dataset).tab;
  for (const each of $$(".tabs button")) each.ariaPressed = each.dataset.tab === main.dataset.tab;
}

// Says in title and icon that it is the user's turn, and by a sound and a notification if it has just become so.
function takesTurn(turn) {
  document.title = `${turn ? "● " : ""}${title}`;
  icon.href = icon.href.replace(/icon[a-z-]*/, turn ? "icon-turn" : "icon");
  if (turn && !mine && document.hidden) {
    beep();
    if (isOn("notify")) new Notification(title, { body: main.dataset.turn, tag: here });
  }
  mine = turn;
}
const front = () => act("front", { yes: !document.hidden });
document.addEventListener("visibilitychange", front);

function put(name, html) {
  const place = $(`#f-${name}`);
  if (!place) return;
  const focused = name === "prompt" && place.contains(document.activeElement);
  Idiomorph.morph(place, html, { morphStyle: "innerHTML", ignoreActiveValue: false });
  if (focused && !place.contains(document.activeElement)) place.focus();
  if (name === "windows") bringIntoView();
}

function bringIntoView() {
  const found = opening && $(`#window-${CSS.escape(opening)}`);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  found?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
  if (found) opening = null;
}

// --- to the server
let last = Promise.resolve();
function act(action, data = {}) {
  serial += 1;
  if (EDITS.has(action)) edited = serial;
  const clicked = { state, serial, ...data };
  last = last.then(() => send(action, clicked)).catch(() => (offline.hidden = false));
}

// Makes the choice that OK names, once the page shows all that was picked for it.
function confirm(pressed) {
  confirming = edited > seen ? pressed : null;
  if (confirming !== null) return;
  const ok = $("#f-prompt .ok");
  if (!ok || !ok.disabled) act(ok ? ok.dataset.do : "choose", { ...(ok ? given(ok) : {}), state: pressed });
}
function shows(action) {
  seen = Math.max(seen, action);
  if (confirming !== null) confirm(confirming);
}
async function send(action, data) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ view, do: action, ...data });
  const answer = await fetch(`${here}/act`, { method: "POST", headers, body });
  if (answer.status === 404) location.reload();
  setTimeout(() => {
    // the page hears nothing: what OK chooses is not known, so press it again
    if (data.serial >= edited) confirming = null;
    seen = Math.max(seen, data.serial);
  }, 3000);
  const result = answer.ok ? await answer.json() : {};
  if (result.go) location.assign(result.go);
}

function given(element) {
  const { do: _, change, ...data } = element.dataset;
  if (data.from) data.value = $(`#${data.from}`).value;
  return data.choice ? { ...data, choice: JSON.parse(data.choice) } : data;
}

document.addEventListener("click", ({ target }) => {
  const element = target.closest("button, [data-do]");
  if (!element || element.disabled || element.ariaDisabled === "true") return;
  const { show, rules: anchor, switch: name, zoom: by, key, tab, do: action, panel } = element.dataset;
  if (action === "toggle") opening = element.ariaPressed === "true" ? null : panel;
  if (show || anchor) showRules(!show || rules.hidden, anchor);
  else if (name) turn(name, element.ariaPressed !== "true");
  else if (by) zoomBy(1.4 ** by);
  else if (key) KEYS[key]();
  else if (!action) openTab(tab);
  else if (element.matches("#f-prompt .ok")) confirm(state);
  else act(action, given(element));
});

document.addEventListener("change", ({ target }) => {
  const { value } = target;
  const element = target.closest("[data-change]");
  if (target.closest("[data-language]")) location.assign(`${here}?language=${value}`);
  else if (element && value !== "") act(element.dataset.change, { ...given(element), value, link: location.href });
});

// --- keys
const KEYS = {
  l: () => act("list"),
  u: () => act("undo"),
  o: () => confirm(state),
  a: () => $("#tool-add")?.click(),
  n: () => $("#f-notice button")?.focus(),
  c: () => $("#say").focus(),
  ".": () => prompt.focus(),
  "?": () => $("#keys").showModal(),
};
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = target.matches("input, select, textarea");
  const node = target.closest("g[data-do]");
  const arrow = ARROWS[key];
  const picks = node && ["Enter", " "].includes(key);
  const moves = arrow && (node || target.closest("#f-log"));
  if (picks || moves) event.preventDefault();
  if (picks) act(node.dataset.do, given(node));
  else if (moves && node) step(node, arrow);
  else if (moves) alongLog(arrow[0] + arrow[1]);
  else if (key === "Escape" && !rules.hidden) showRules(false);
  else if (key === "Escape") act("cancel");
  else if (target.id === "say" && key === "Enter") {
    act("say", { value: target.value });
    target.value = "";
  } else if (field && key === "Enter" && target.type === "number") {
    target.dispatchEvent(new Event("change", { bubbles: true }));
    confirm(state);
  } else if (!field && /^[1-9]$/.test(key)) {
    const all = [...prompt.querySelectorAll(".option, .slot [data-do=slot], .slot [data-do=more]")];
    (all.find((each) => each.textContent === key) ?? all[key - 1])?.click();
  } else if (!field && KEYS[key]) {
    event.preventDefault(); // the field that gets the focus gets no letter
    KEYS[key]();
  }
});

// Moves the focus along the lines of the log, which are one tab stop.
function alongLog(by) {
  const lines = $$("#f-log button");
  const at = lines.indexOf(document.activeElement);
  lines.at(at < 0 ? -1 : Math.min(lines.length - 1, Math.max(0, at + by)))?.focus();
}

// Moves the focus from a node of the board to the nearest one in the direction of an arrow key.
function step(node, [dx, dy]) {
  const middle = (each) => {
    const { x, y, width, height } = each.querySelector(".hit").getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const [x, y] = middle(node);
  const far = (each) => {
    const [ox, oy] = middle(each);
    const ahead = dx * (ox - x) + dy * (oy - y), aside = Math.abs(dx * (oy - y) + dy * (ox - x));
    return ahead > 0 ? ahead + 2 * aside : Infinity;
  };
  const [nearest] = $$('g.node[tabindex="0"]').sort((a, b) => far(a) - far(b));
  if (far(nearest) < Infinity) nearest.focus();
}

// Zooms the board, between its whole and eight times as large, about what can be picked, or where somebody scrolled.
let zoom = 1, aim = null;
const map = $(".view");
function zoomBy(factor) {
  const now = Math.min(8, Math.max(1, zoom * factor));
  if (zoom === 1) aim = pickable();
  const at = aim || [(map.scrollLeft + map.clientWidth / 2) / zoom, (map.scrollTop + map.clientHeight / 2) / zoom];
  map.querySelector(".sheet").style.setProperty("--zoom", now);
  map.scrollTo(at[0] * now - map.clientWidth / 2, at[1] * now - map.clientHeight / 2);
  zoom = now;
}

// Returns the middle of the nodes of the whole board that can be picked, or null if there are none.
function pickable() {
  const found = $$(".view :is(.node.can, .node.picked) .hit").map((each) => each.getBoundingClientRect());
  const sheet = map.querySelector(".sheet").getBoundingClientRect();
  const each = (edge) => found.map((box) => box[edge]);
  const middle = (low, high) => (Math.min(...each(low)) + Math.max(...each(high))) / 2 - sheet[low];
  return found.length ? [middle("left", "right"), middle("top", "bottom")] : null;
}
map.addEventListener("pointerdown", () => (aim = null));
map.addEventListener("wheel", (event) => {
  aim = null;
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoomBy(1.1 ** -Math.sign(event.deltaY));
}, { passive: false });

setInterval(() => {
  for (const each of $$("[data-until]")) {
    const left = Math.max(0, Math.round(each.dataset.until - Date.now() / 1000));
    each.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }
}, 500);

// --- sound and rules
let stored = {};
try {
  stored = localStorage;
} catch {} // nothing is remembered after a reload
const isOn = (name) => $(`[data-switch=${name}]`).ariaPressed === "true";
async function turn(name, wanted) {
  const allowed = name === "sound" || (wanted && (await window.Notification?.requestPermission()) === "granted");
  $(`[data-switch=${name}]`).ariaPressed = wanted && allowed;
  stored[name] = isOn(name) ? "on" : "off";
  if (name === "sound") beep();
}
function beep() {
  if (isOn("sound")) $("#beep").play().catch(() => {}); // browsers allow it after the first click
}
function showRules(yes, anchor) {
  const button = $("nav [data-show]");
  rules.hidden = !yes;
  button.ariaExpanded = yes;
  if (yes) frame.src = frame.dataset.src + (anchor ? `#${anchor}` : "");
  else button.focus();
}
frame.onload = () => (frame.contentWindow.onkeydown = ({ key }) => key === "Escape" && showRules(false));
$("[data-switch=sound]").ariaPressed = stored.sound === "on";
$("[data-switch=notify]").ariaPressed = stored.notify === "on" && window.Notification?.permission === "granted";
document.body.inert = false; // until now a press was lost
openTab();
listen();
