// The shell of the studio: files, editor, problems, and the pane with the game. Forms and questions are dialogs that
// the server writes; everything else that is shown comes from it as text.
import * as cm from "./vendor/codemirror.js";

const { Decoration, EditorState, EditorView, tags } = cm;
const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const text = (tag, textContent, more = {}) => make(tag, { textContent, ...more });
const button = (title, onclick, className = "small") => text("button", title, { type: "button", onclick, className });
const here = document.body.dataset, roots = JSON.parse(here.roots), dialog = $("#ask"), problems = new Map(); // by URI
let open = {}, fixes = []; // the file in the editor (name, uri, text, own, digest), and its quick fixes
let fresh = {}, dirty = false; // what has happened since the last edit (saved, checked); is it unsaved

// --- requests
async function call(address, body) {
  const answer = await fetch(address, body === undefined ? {} : { method: "POST", body }), { status, headers } = answer;
  return headers.get("content-type")?.startsWith("text/html")
    ? { status, html: await answer.text() }
    : { status, html: "", ...(await answer.json()) };
}
const fetched = (name) => call(`file?name=${encodeURIComponent(name)}`);
const save = (file) => call("save", JSON.stringify(file));
const listed = (name) => $(`#files a[data-name="${CSS.escape(name ?? "")}"]`);
const list = async () => void ($("#files").innerHTML = (await call("files")).html);
async function ask(address, body) { // a dialog, until the answer is where to go
  if (dirty) await stored();
  const { html, error, go } = await call(address, body);
  if (html || error) {
    dialog.innerHTML = html || $("#refused").innerHTML;
    for (const each of $$("#ask [role=alert]:empty")) each.textContent = error;
    for (const each of $$("#ask [data-link]")) each.value = new URL(each.dataset.link, top.location).href;
    return dialog.open || dialog.showModal();
  }
  dialog.close();
  await list();
  if (!listed(open.name)) open.name = ""; // it was deleted
  const to = go || `${hand()}`;
  open.name = dirty = ""; // what was written is read again
  await follow(to);
}
const say = (textContent, className = "") => Object.assign($("#saved"), { textContent, className });

// --- the language server
let receive;
const waiting = [];
async function send(message) { // one request at a time keeps messages in order
  if (waiting.push(message) > 1) return;
  await null;
  for (let count = waiting.length; count; count = waiting.length) {
    await fetch(`lsp?session=${here.session}`, { method: "POST", body: `[${waiting.join()}]` }).catch(() => {});
    waiting.splice(0, count);
  }
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
const client = new cm.LSPClient({ timeout: 30000, sanitizeHTML: clean, notificationHandlers: {
  "textDocument/publishDiagnostics": (_, { uri, diagnostics }) => (problems.set(uri, diagnostics), tell(), true),
  "$/regelwerk/checked": (_, { uri }) => (uri === open.uri && checked(), true),
} });
client.workspace.displayFile = async (uri) => (await show(nameOf(uri)), view);
const nameOf = (uri) => {
  const [name, base] = roots.find(([, base]) => uri.startsWith(base)) ?? ["", ""];
  return name + decodeURIComponent(uri.slice(base.length));
};
const request = (method, more) =>
  client.request(`textDocument/${method}`, { textDocument: { uri: open.uri }, ...more });
const lineOf = ({ range }) => range.start.line;
const place = (name, line) => `#at=${encodeURIComponent(name).replaceAll("%2F", "/")}:${line + 1}`;
const link = (title, name, line) => text("a", title, { href: place(name, line) });

async function checked() { // shows what there is to know about a file when it has been checked
  settle("checked");
  const { uri } = open, range = { start: position(0), end: position(view.state.doc.length) };
  const [actions, lenses, tokens, symbols] = await Promise.all([
    request("codeAction", { range, context: { diagnostics: problems.get(uri) ?? [] } }),
    ...["codeLens", "semanticTokens/full", "documentSymbol"].map((method) => request(method)),
  ].map((answer) => answer.catch(() => null)));
  if (uri !== open.uri) return;
  fixes = (actions ?? []).filter((each) => each.edit);
  const found = [...lensesOf(lenses ?? []), ...marksOf(tokens?.data ?? [])];
  view.dispatch({ effects: draw.of(Decoration.set(found, true)) });
  $("#outline").replaceChildren(text("h2", "Outline"), outline(symbols ?? []));
  tell();
}
const outline = (symbols) => make("ul", {}, ...symbols.map(({ name, selectionRange, children }) => {
  const below = children?.length ? [outline(children)] : [];
  return make("li", {}, link(name, open.name, selectionRange.start.line), ...below);
}));
class Lens extends cm.WidgetType {
  eq = ({ key }) => key === this.key;
  toDOM = () => make("div", { className: "lens" }, ...this.commands.map(({ title, command, arguments: given = [] }) =>
    RUN[command] ? button(title, () => RUN[command](...given)) : text("span", title)));
}
const RUN = {
  "regelwerk.run": (_, scenario) => pane("scenarios", { scenario }),
  "regelwerk.show": (name) => pane(name),
  "regelwerk.go": (to) => location.assign(place(nameOf(to.uri), lineOf(to))),
};
function lensesOf(lenses) {
  const lines = Map.groupBy(lenses.filter((each) => each.command), lineOf);
  return [...lines].map(([line, each]) => {
    const commands = each.map(({ command }) => command);
    const widget = Object.assign(new Lens(), { commands, key: JSON.stringify(commands) });
    return Decoration.widget({ widget, block: true, side: -1 }).range(offset({ line, character: 0 }));
  });
}
function marksOf(data) {
  const types = client.serverCapabilities.semanticTokensProvider.legend.tokenTypes, marks = [];
  for (let i = 0, line = 0, character = 0; i < data.length; i += 5) {
    [line, character] = data[i] ? [line + data[i], data[i + 1]] : [line, character + data[i + 1]];
    const from = offset({ line, character }), to = offset({ line, character: character + data[i + 2] });
    if (from < to) marks.push(Decoration.mark({ class: `sem-${types[data[i + 3]]}` }).range(from, to));
  }
  return marks;
}

// --- problems
const WORST = ["", "error", "warning", "info", "hint"];
const errors = () => [...problems.values()].flat().filter(({ severity }) => severity === 1).length;
const key = ({ message, range }) => JSON.stringify([message, range]);
const mendsOf = (problem) => fixes
  .filter(({ diagnostics }) => diagnostics?.some((each) => key(each) === key(problem)))
  .map(({ title, edit }) => ({ name: title, apply: () => apply(edit) }));
function tell() {
  const found = [...problems].flatMap(([uri, each]) => each.map((problem) => ({ ...problem, uri })));
  const far = ({ uri }) => uri !== open.uri;
  found.sort((a, b) => far(a) - far(b) || a.severity - b.severity || lineOf(a) - lineOf(b));
  view.dispatch(cm.setDiagnostics(view.state, (problems.get(open.uri) ?? []).map((problem) => {
    const { range: { start, end }, severity, message } = problem;
    return { from: offset(start), to: offset(end), severity: WORST[severity], message, actions: mendsOf(problem) };
  })));
  const none = found.length ? "No errors, some advice" : "No problems", count = errors();
  const title = count ? `${count} ${count === 1 ? "error" : "errors"}` : none;
  $("#problems").replaceChildren(text("h2", title), make("ul", {}, ...found.slice(0, 200).map((problem) => {
    const name = nameOf(problem.uri), line = lineOf(problem), title = `${name.split("/").pop()}:${line + 1}`;
    const parts = [link(title, name, line), text("code", problem.code ?? ""), text("span", problem.message)];
    const mends = mendsOf(problem).map((mend) => button(mend.name, mend.apply, "small fix"));
    return make("li", { className: WORST[problem.severity] }, ...parts, ...mends);
  })));
  if (count) happened("error");
}
async function apply({ changes = {} }) {
  for (const [uri, edits] of Object.entries(changes)) {
    const file = uri === open.uri ? null : await fetched(nameOf(uri));
    const state = file ? EditorState.create({ doc: file.text }) : view.state, at = (place) => offset(place, state.doc);
    const spec = edits.map(({ range, newText }) => ({ from: at(range.start), to: at(range.end), insert: newText }));
    const done = state.update({ changes: spec });
    if (!file) view.dispatch(done);
    else if (file.own) await save({ name: nameOf(uri), text: done.state.sliceDoc(), before: file.digest });
  }
  view.focus();
}

// --- the editor
const offset = ({ line, character }, doc = view.state.doc) => {
  const { from, to } = doc.line(Math.min(line + 1, doc.lines));
  return Math.min(from + character, to);
};
const position = (at, { number, from } = view.state.doc.lineAt(at)) => ({ line: number - 1, character: at - from });
const draw = cm.StateEffect.define(), drawn = cm.StateField.define({
  create: () => Decoration.none,
  update: (set, { changes, effects }) => effects.find((each) => each.is(draw))?.value ?? set.map(changes),
  provide: (field) => EditorView.decorations.from(field),
});
const colours = cm.HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: "hl-key" },
  { tag: tags.comment, class: "hl-comment" },
  { tag: [tags.string, tags.content, tags.attributeValue], class: "hl-text" },
  { tag: [tags.keyword, tags.number, tags.bool], class: "hl-word" },
]);
function rename() {
  const { head } = view.state.selection.main, word = view.state.wordAt(head);
  const newName = word && prompt("New name", view.state.sliceDoc(word.from, word.to));
  if (!newName) return true;
  client.sync();
  const renamed = request("rename", { position: position(head), newName });
  return renamed.then((edit) => edit && apply(edit), ({ message }) => say(message, "bad"));
}
function mend() { // the first quick fix of the line
  const { line } = position(view.state.selection.main.head);
  const [fix] = (problems.get(open.uri) ?? []).filter((each) => lineOf(each) === line).flatMap(mendsOf);
  return Boolean(fix?.apply());
}
const plain = [EditorView.lineWrapping, EditorView.contentAttributes.of({ "aria-label": "Text of the file" })];
plain.push(EditorView.cspNonce.of(here.nonce));
const keys = [{ key: "F2", run: rename }, { key: "Mod-.", run: mend }, { key: "Shift-Alt-f", run: cm.formatDocument }];
keys.push(cm.indentWithTab, ...cm.jumpToDefinitionKeymap, ...cm.findReferencesKeymap);
const jumps = ({ ctrlKey, metaKey }) => void ((ctrlKey || metaKey) && setTimeout(cm.jumpToDefinition, 0, view));
const usual = [
  cm.keymap.of(keys), cm.basicSetup, cm.yaml(), cm.syntaxHighlighting(colours), drawn, cm.serverCompletion(),
  cm.hoverTooltips(), EditorView.updateListener.of(({ docChanged }) => docChanged && edited()),
  EditorView.domEventHandlers({ mousedown: jumps }),
];
const view = new EditorView({ parent: $("#editor"), extensions: plain });

async function show(name, line, query) { // the empty name: what one can do without a file
  if (dirty && name !== open.name) await stored();
  const file = name ? await fetched(name) : { text: "", digest: "" };
  if (file.error) return keep(), say(file.error, "bad");
  const isOther = name !== open.name || (!dirty && file.digest !== open.digest); // or a pane has written it
  if (isOther) {
    if (name && !listed(name)) await list();
    [open, fixes, fresh] = [{ ...file, name }, [], {}];
    problems.clear();
    const ends = EditorState.lineSeparator.of(file.text.includes("\r\n") ? "\r\n" : "\n");
    const own = [ends, EditorState.readOnly.of(!file.own), plain, name ? [client.plugin(file.uri, "yaml"), usual] : []];
    view.setState(EditorState.create({ doc: file.text, extensions: own }));
    $("#none").hidden = $("#name").textContent = name;
    for (const each of $$("#problems, #outline")) each.replaceChildren();
    say(file.own || !name ? "" : "shipped, to read");
    for (const each of $$("#files a[data-name]")) each.ariaCurrent = each.dataset.name === name ? "true" : null;
  }
  open.line = line;
  if (line) reveal(line); // before the rulesets are here, so that a key that is pressed meanwhile goes there
  if (query.has("ruleset")) await choose(query, { kept: 1 });
  else if (isOther) await choose();
  keep();
}
function reveal(line) {
  const anchor = offset({ line: line - 1, character: 0 });
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  turn("edit");
  if (!dialog.open) view.focus();
}
let timer, syncing, saving, written = false;
addEventListener("message", async ({ data, origin }) => { // a pane has written a file
  if (origin !== location.origin || data?.changed !== open.name || dirty) return;
  const file = await fetched(open.name), old = view.state.doc.toString(), now = file.text.replaceAll("\r\n", "\n");
  let from = 0, end = 0;
  while (from < old.length && old[from] === now[from]) from++;
  while (end < Math.min(old.length, now.length) - from && old.at(-1 - end) === now.at(-1 - end)) end++;
  [open.digest, written] = [file.digest, true];
  view.dispatch({ changes: { from, to: old.length - end, insert: now.slice(from, now.length - end) } });
});
function edited() {
  [dirty, fresh] = [true, {}];
  say("…");
  [timer, syncing].forEach(clearTimeout);
  syncing = setTimeout(() => client.sync(), 40);
  timer = setTimeout(stored, 150);
}
const edition = (is_sure) => ({ name: open.name, text: view.state.sliceDoc(), before: is_sure ? "" : open.digest });
function stored(is_sure = false) { // one after the other
  clearTimeout(timer);
  return saving = Promise.resolve(saving).then(async () => {
    if (!dirty) return; // another file is open now
    const { doc } = view.state, failed = () => ({ error: "not saved: no answer" });
    const { status, error, digest } = await save(edition(is_sure)).catch(failed);
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
  if (!fresh.saved || !fresh.checked || errors()) return;
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
  async copy() {
    await navigator.clipboard.writeText($("#ask [data-link]").value);
    $("#ask [role=status]").textContent = "copied";
  },
};
addEventListener("click", ({ target }) => {
  const { ask: address, choice, do: what, pane: name, to } = target.closest("button")?.dataset ?? {};
  if (address) ask(choice ? `${address}?${hand()}` : address);
  if (what) DO[what]();
  if (name) pane(name);
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
addEventListener("pagehide", () => dirty && navigator.sendBeacon("save", JSON.stringify(edition(false))));
async function follow(to = location.hash.slice(1)) { // goes where an address says; what it leaves out stays
  const query = new URLSearchParams(to), form = new FormData(), pack = query.get("pack");
  const [, name, line] = (query.get("at") ?? "").match(/^(.*?)(?::(\d+))?$/);
  for (const each of $$("dialog[open]")) each.close();
  if (!pack) return show(name, Number(line ?? 0), query);
  query.delete("pack");
  form.set("pack", pack);
  form.set("go", query);
  await ask("upload", form);
}
addEventListener("hashchange", () => { // one after the other
  const to = (heard = location.hash).slice(1);
  going = Promise.resolve(going).then(() => follow(to));
});
new EventSource(`lsp/events?session=${here.session}`).addEventListener("begin", ({ target, data }) => {
  target.onmessage = (message) => receive(message.data);
  if (client.connected && data === "true") client.disconnect(); // the server has begun anew
  if (!client.connected) client.connect({ send, subscribe: (heard) => (receive = heard), unsubscribe() {} });
});
window.name = "studio"; // panes lead here by this name
visit();
await follow();
if (open.name === undefined) await show("", 0, new URLSearchParams()); // the address leads to no file
