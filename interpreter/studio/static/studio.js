// The shell of the studio: files, editor, and the pane with the game. Lists, forms, questions, and what is known of the
// open file come from the server as HTML.
import * as cm from "./vendor/codemirror.js";

const { Decoration, EditorState, EditorView } = cm;
const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];
const here = document.body.dataset, dialog = $("#ask");
let open = {}; // the file in the editor: its name, uri, text, own, digest, and the line that was opened
let fresh = {}, dirty = false; // what has happened since the last edit (saved, checked); is it unsaved

// --- requests
async function call(address, body) {
  const answer = await fetch(address, body === undefined ? {} : { method: "POST", body }), { status, headers } = answer;
  return headers.get("content-type")?.startsWith("text/html")
    ? { status, html: await answer.text() }
    : { status, html: "", ...(await answer.json()) };
}
const listed = (name) => $(`#files a[data-name="${CSS.escape(name ?? "")}"]`);
const list = async () => void ($("#files").innerHTML = (await call("files")).html);
async function ask(address, body) { // a dialog, until the answer is where to go
  if (dirty) await stored();
  const { html, error, go } = await call(address, body);
  if (html || error) {
    dialog.innerHTML = html || $("#refused").innerHTML;
    for (const each of $$("#ask [role=alert]:empty")) each.textContent = error;
    for (const each of $$("#ask [data-link]")) each.value = new URL(each.dataset.link, top.location).href;
    if (!dialog.open) dialog.showModal();
    return $("#ask [autofocus]")?.select();
  }
  dialog.close();
  await list();
  if (!listed(open.name)) open.name = dirty = null; // it was deleted
  await (go === undefined ? show(open.name) : follow(go || `${hand()}`));
  if (document.activeElement === document.body) view.focus();
}
const say = (textContent, className = "") => Object.assign($("#saved"), { textContent, className });

// --- the language server
let receive, sending = Promise.resolve();
function send(body) { // one request at a time keeps messages in order
  const post = () => fetch(`lsp?session=${here.session}`, { method: "POST", body }).catch(() => {});
  sending = sending.then(post);
}
const ALLOWED = "p, strong, em, code, pre, ul, ol, li, br, span, :is(h1, h2, h3, h4), hr, blockquote, table, table *";
function clean(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const each of body.querySelectorAll("*")) {
    for (const name of each.getAttributeNames()) if (name !== "class") each.removeAttribute(name);
    if (!each.matches(ALLOWED)) each.replaceWith(each.textContent);
  }
  return body.innerHTML;
}
const client = new cm.LSPClient({ timeout: 30000, sanitizeHTML: clean });
client.workspace.displayFile = async (uri) => (await show(uri), view);

// --- what is known of the open file
class Piece extends cm.WidgetType { // an element that the server has written
  eq = ({ element }) => element.isEqualNode(this.element);
  toDOM = () => this.element.cloneNode(true);
}
function pieceOf(element) {
  const block = element.className === "lens", widget = Object.assign(new Piece(), { element });
  return Decoration.widget({ widget, block, side: block ? -1 : 1 }).range(offset(JSON.parse(element.dataset.at)));
}
function markOf([line, start, end, kind]) { // the kind of a word
  const from = offset([line, start]), to = offset([line, end]);
  return from < to ? [Decoration.mark({ class: `sem-${kind}` }).range(from, to)] : [];
}
function problemOf({ dataset: { at, end }, className: severity, children }) {
  const [from, to] = [at, end].map((place) => offset(JSON.parse(place))), [, , message, ...fixes] = children;
  const actions = fixes.map((fix) => ({ name: fix.textContent, apply: () => fix.click() }));
  return { from, to: Math.max(from, to), severity, message: message.textContent, actions };
}
function tell({ uri, checked, pieces, marks }) {
  if (uri !== open.uri) return;
  for (const [id, html] of Object.entries(pieces)) $(`#${id}`).innerHTML = html;
  const found = marks && [...[...$("#beside").content.children].map(pieceOf), ...marks.flatMap(markOf)];
  if (found) return view.dispatch({ effects: draw.of(Decoration.set(found, true)) });
  view.dispatch(cm.setDiagnostics(view.state, $$("#problems [data-at]").map(problemOf)));
  if ($("#problems .error")) happened("error");
  if (checked) settle("checked");
}
const mend = () => $(`#problems [data-at^="[${position().line},"] .fix`)?.click() ?? true; // the first of the line

// --- the editor
function offset([line, character = 0]) {
  const { doc } = view.state, { from, to } = doc.line(Math.min(line + 1, doc.lines));
  return Math.min(from + character, to);
}
function position() { // of the cursor
  const { doc, selection: { main: { head } } } = view.state, { number, from } = doc.lineAt(head);
  return { line: number - 1, character: head - from };
}
const draw = cm.StateEffect.define(), drawn = cm.StateField.define({
  create: () => Decoration.none,
  update: (set, { changes, effects }) => effects.find((each) => each.is(draw))?.value ?? set.map(changes),
  provide: (field) => EditorView.decorations.from(field),
});
const rename = () => Boolean(ask(`rename?${new URLSearchParams({ session: here.session, ...position() })}`));
const plain = [EditorView.lineWrapping, EditorView.contentAttributes.of({ "aria-label": "Text of the file" })];
plain.push(EditorView.cspNonce.of(here.nonce), cm.basicSetup);
const keys = [{ key: "F2", run: rename }, { key: "Mod-.", run: mend }, { key: "Shift-Alt-f", run: cm.formatDocument }];
keys.push(cm.indentWithTab, ...cm.jumpToDefinitionKeymap, ...cm.findReferencesKeymap);
const jumps = ({ ctrlKey, metaKey }) => void ((ctrlKey || metaKey) && setTimeout(cm.jumpToDefinition, 0, view));
const usual = [
  cm.keymap.of(keys), cm.yaml(), cm.syntaxHighlighting(cm.classHighlighter), drawn,
  cm.serverCompletion(), cm.hoverTooltips(), EditorView.updateListener.of(({ docChanged }) => docChanged && edited()),
  EditorView.domEventHandlers({ mousedown: jumps }),
];
const view = new EditorView({ parent: $("#editor"), extensions: plain });

async function show(wanted, line = 0, query = new URLSearchParams()) { // the empty name: what one can do without a file
  if (dirty && wanted !== open.name) await stored();
  const file = wanted ? await call(`file?name=${encodeURIComponent(wanted)}`) : { name: "", text: "", digest: "" };
  if (file.error) return keep(), say(file.error, "bad");
  const isOther = file.name !== open.name;
  if (isOther) await load(file);
  else if (!dirty && file.digest !== open.digest) read(file);
  for (const each of $$("#files a[data-name]")) each.ariaCurrent = each.dataset.name === open.name ? "true" : null;
  open.line = line;
  if (line) reveal(line); // before the rulesets are here, so that a key that is pressed meanwhile goes there
  if (query.has("ruleset")) await choose(query, { kept: 1 });
  else if (isOther) await choose();
  keep();
}
async function load(file) {
  const { name, text, own, uri } = file, ends = EditorState.lineSeparator.of(text.includes("\r\n") ? "\r\n" : "\n");
  if (name && !listed(name)) await list();
  [open, fresh] = [file, {}];
  const extensions = [ends, EditorState.readOnly.of(!own), name ? [client.plugin(uri, "yaml"), usual] : [], plain];
  view.setState(EditorState.create({ doc: text, extensions }));
  $("#none").hidden = $("#name").textContent = name;
  for (const each of $$("#problems, #outline")) each.replaceChildren();
  say(own || !name ? "" : "shipped, to read");
}
function read({ text, digest }) { // what was written elsewhere becomes an edit, which can be undone
  const now = text.replaceAll("\r\n", "\n"), changes = cm.diff(view.state.doc.toString(), now);
  open.digest = digest;
  const edit = ({ fromA: from, toA: to, fromB, toB }) => ({ from, to, insert: now.slice(fromB, toB) });
  view.dispatch({ changes: changes.map(edit) });
}
function reveal(line) {
  const anchor = offset([line - 1, view.state.doc.line(Math.min(line, view.state.doc.lines)).text.search(/\S|$/)]);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  turn("edit");
  if (!dialog.open) view.focus();
}
let timer, syncing, saving, written = false; // has the pane written what is read
function edited() {
  [dirty, fresh] = [true, {}];
  say("…");
  [timer, syncing].forEach(clearTimeout);
  syncing = setTimeout(() => client.sync(), 20);
  timer = setTimeout(stored, 100);
}
function edition(is_sure) {
  return new URLSearchParams({ name: open.name, text: view.state.sliceDoc(), before: is_sure ? "" : open.digest });
}
function stored(is_sure = false) { // one after the other
  clearTimeout(timer);
  return saving = Promise.resolve(saving).then(async () => {
    if (!dirty) return; // another file is open now
    const { doc } = view.state, failed = () => ({ error: "not saved: no answer" });
    const { status, error, digest } = await call("save", edition(is_sure)).catch(failed);
    if (status === 412 && confirm(`${error} Keep the text that is here?`)) return void setTimeout(stored, 0, true);
    if (status === 412) return open.digest = dirty = "", follow();
    if (error) return say(error, "bad"), timer = setTimeout(stored, 2000);
    open.digest = digest;
    if (doc !== view.state.doc) return;
    dirty = false;
    say("saved");
    settle("saved");
  });
}
function settle(what) { // when a text is saved and has no errors, the pane shows what it means
  fresh[what] = true;
  if (!fresh.saved || !fresh.checked || $("#problems .error")) return;
  fresh = {};
  if (written) return void (written = false); // the pane shows it already
  happened("clean");
  pane();
}

// --- the ruleset, its panes, and the first visit
const entered = () => new URLSearchParams(new FormData($("#choice")));
let chosen = entered(); // what the server answered last; what is being typed is not in it
function hand() { // what is at hand: the open place, the ruleset with its overlays and players, and the pane
  const at = open.name ? [["at", `${open.name}:${open.line || 1}`]] : [];
  return new URLSearchParams([...at, ...chosen, ["pane", sessionStorage.pane ?? "board"]]);
}
let heard = location.hash, going = null; // the address that was followed or written last, and following it
function keep() { // the address says so too, and reloading, going back and links keep it
  if (dialog.open || !chosen.has("ruleset") || location.hash !== heard) return;
  const hash = `#${hand()}`.replaceAll("%2F", "/").replaceAll("%3A", ":");
  for (const { history } of new Set([window, top])) history.replaceState(null, "", hash);
  heard = location.hash; // as the browser writes it
}
async function choose(query = chosen, more = {}) {
  const wanted = new URLSearchParams([...query, ["file", open.name ?? ""], ...Object.entries(more)]);
  $("#choice").innerHTML = (await call(`choice?${wanted}`)).html;
  chosen = entered();
  pane(query.get("pane") ?? undefined);
}
let shown = "";
function pane(name = sessionStorage.pane ?? "board", more = {}) {
  mark($(`[data-pane="${CSS.escape(name)}"]`) ? name : "board");
  const address = `pane/${sessionStorage.pane}?${new URLSearchParams([...chosen, ...Object.entries(more)])}`;
  if (!chosen.has("ruleset")) return; // until the rulesets are here
  if (address === shown && isLive()) return happened("table"); // it is told by its own stream
  $("#pane").contentWindow.location.replace(new URL(shown = address, document.baseURI));
}
const isLive = () => "live" in ($("#pane").contentDocument?.body?.dataset ?? {});
function mark(name) {
  sessionStorage.pane = $("#pane").title = name;
  for (const tab of $$("[data-pane]")) tab.tabIndex = (tab.ariaSelected = tab.dataset.pane === name) - 1;
  keep();
  happened(name);
}
$("#pane").onload = ({ target }) => { // a pane may lead to another one
  const [, name] = target.contentDocument?.location.pathname.match(/\/pane\/([a-z]+)$/) ?? [];
  if (name) mark(name);
  if (isLive()) happened("table");
};
addEventListener("message", async ({ data, origin }) => { // a pane has written a file
  if (origin !== location.origin || data?.changed !== open.name || dirty) return;
  written = true;
  await show(open.name);
});
function turn(to) {
  here.view = to;
  for (const each of $$("[data-to]")) each.ariaPressed = each.dataset.to === to;
}
const steps = $$("#visit li");
const reached = () => Number(localStorage.visit ?? -1);
function visit(step = reached()) { // -1: closed, 0: not begun
  localStorage.visit = step;
  $("#visit").hidden = step < 0;
  steps.forEach((each, number) => (each.ariaCurrent = number + 1 === step ? "step" : null));
}
function happened(what) {
  if (steps[reached() - 1]?.dataset.until === what) visit(reached() + 1);
}

// --- events
const DO = {
  visit: () => visit($("#visit").hidden ? 0 : -1),
  begin: () => visit(1),
  keys: () => $("#keys").showModal(),
  format: () => cm.formatDocument(view),
  copy: () => navigator.clipboard.writeText($("#ask [data-link]").value)
    .then(() => ($("#ask [role=status]").textContent = "copied")),
};
addEventListener("click", ({ target }) => {
  const { ask: address, choice, do: what, pane: name, show, scenario, to } = target.closest("button")?.dataset ?? {};
  if (address) ask(choice ? `${address}?${hand()}` : address);
  if (what) DO[what]();
  if (name || show) pane(name ?? show, scenario && { scenario });
  if (to) turn(to);
});
addEventListener("submit", (event) => {
  if ([event.submitter?.formMethod, event.target.method].includes("dialog")) return;
  event.preventDefault();
  ask(event.target.getAttribute("action"), new FormData(event.target, event.submitter));
});
dialog.onclose = keep;
$("#choice").onchange = () => {
  history.pushState(null, "", location.href); // back leads to what was chosen before
  choose(entered(), { kept: 1 });
};
const AREAS = { 1: ["files", "#files button"], 2: ["edit", "#none:not([hidden]) button, .cm-content"] };
AREAS[3] = ["pane", "[data-pane][aria-selected=true]"];
addEventListener("keydown", (event) => {
  const tabs = $$("[data-pane]"), at = tabs.indexOf(event.target), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (at >= 0 && step) tabs.at((at + step) % tabs.length).focus();
  if (event.key === "?" && !event.target.closest("input, select, [contenteditable=true]")) DO.keys();
  const [area, first] = (event.altKey && AREAS[event.key]) || [];
  if (!area) return;
  event.preventDefault();
  turn(area);
  $(first).focus();
});
addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault(), true);
addEventListener("drop", async (event) => {
  const kept = new DataTransfer();
  for (const file of event.dataTransfer.files) kept.items.add(file);
  if (!kept.files.length) return;
  event.preventDefault();
  event.stopPropagation();
  await ask(kept.files[0].name.endsWith(".zip") ? "upload" : `new/map?${chosen}`);
  $("#ask input[type=file]").files = kept.files;
}, true);
addEventListener("pagehide", () => dirty && navigator.sendBeacon("save", edition(false)));
async function follow(to = location.hash.slice(1)) { // goes where an address says; what it leaves out stays
  const query = new URLSearchParams(to), pack = query.get("pack");
  const [, name, line] = (query.get("at") ?? "").match(/^(.*?)(?::(\d+))?$/);
  for (const each of $$("dialog[open]")) each.close();
  if (!pack) return show(name, Number(line ?? 0), query);
  query.delete("pack");
  await ask("upload", new URLSearchParams({ pack, go: query }));
}
addEventListener("hashchange", () => { // one after the other
  const to = (heard = location.hash).slice(1);
  going = Promise.resolve(going).then(() => follow(to));
});
const events = new EventSource(`lsp/events?session=${here.session}`);
events.onmessage = ({ data }) => receive(data);
events.addEventListener("shown", ({ data }) => tell(JSON.parse(data)));
events.addEventListener("begin", ({ data }) => {
  if (client.connected && data === "true") client.disconnect(); // the server has begun anew
  if (!client.connected) client.connect({ send, subscribe: (heard) => (receive = heard), unsubscribe() {} });
});
window.name = "studio"; // panes lead here by this name
document.body.inert = false; // until now a press was lost
visit();
await follow();
if (open.name === undefined) await show("", 0, new URLSearchParams()); // the address leads to no file
