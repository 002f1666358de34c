// What `codemirror.js` is made of: the parts of CodeMirror that the studio uses. README.md has the command.
export { basicSetup } from "codemirror";
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, EditorView, keymap, WidgetType } from "@codemirror/view";
export { indentWithTab } from "@codemirror/commands";
export { syntaxHighlighting } from "@codemirror/language";
export { setDiagnostics } from "@codemirror/lint";
export { diff } from "@codemirror/merge";
export { classHighlighter } from "@lezer/highlight";
export { yaml } from "@codemirror/lang-yaml";
export {
  findReferencesKeymap, formatDocument, hoverTooltips, jumpToDefinition, jumpToDefinitionKeymap, LSPClient,
  serverCompletion,
} from "@codemirror/lsp-client";
