// Runs a Python program under Pyodide: node run.mjs PYODIDE PROGRAM BYTECODE FOLDER… -- ARGUMENT…
// The folders are seen at their own paths, and modules are imported from them, the first one first. The next program finds
// them compiled in the folder BYTECODE.
import { readFileSync } from "node:fs";

const [pyodide, program, bytecode, ...rest] = process.argv.slice(2);
const end = rest.indexOf("--");
const folders = rest.slice(0, end);
const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);
const python = await loadPyodide({ env: { HOME: "/home", CI: "1", REGELWERK_CACHE: "/home/cache" } });
for (const folder of [bytecode, ...folders]) {
  python.FS.mkdirTree(folder);
  python.mountNodeFS(folder, folder);
}
python.globals.set("BYTECODE", bytecode);
python.globals.set("FOLDERS", folders);
python.globals.set("ARGUMENTS", rest.slice(end + 1));
python.runPython(`
import os, sys
sys.path[:0] = FOLDERS.to_py()
sys.argv = ["program", *ARGUMENTS.to_py()]
sys.dont_write_bytecode, sys.pycache_prefix = False, BYTECODE
sys.modules["wasmtime"] = None
os.chdir(FOLDERS[0])
`);
try {
  python.runPython(readFileSync(program, "utf8"));
} catch (error) {
  if (error.type !== "SystemExit") console.error(error.message);
  process.exitCode = Number(error.message.match(/SystemExit: (\d+)/)?.[1] ?? error.type !== "SystemExit");
}
