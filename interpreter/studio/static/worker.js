// Runs the studio's application: loads Pyodide, unpacks all packages, and answers the requests of the service worker.
const SAVED = 300;  // milliseconds from an edit until the files go to IndexedDB
// A browser's stack ends long before Python's limits, and Python with it. Most of Python's own recursion stops at a
// limit of the stack in its memory. Measured in Chromium: with 160 kB, chains of calls through C end after 80 to 350
// levels with a RecursionError; without a limit, they end Python after 400 to 700. What needs none of it still does.
const STACK = 160 * 1024, FOLDER = "/home/web_user/studio";
let python, files, home, keeps, saving, last = Promise.resolve();

async function loaded(sizes, tell) {
  const all = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  let got = 0;
  const parts = async name => {
    const answer = await fetch(name.replace(/\.packed$/, ""));  // the service worker unpacks it
    if (!answer.ok) throw Error(`${name} cannot be loaded (${answer.status}).`);
    const data = await answer.arrayBuffer();
    got += sizes[name];
    tell("Loading …", 0.6 * got / all);
    return data;
  };
  const names = Object.keys(sizes).filter(name => /\.(pack|packed)$/.test(name));
  return Object.fromEntries(await Promise.all(names.map(async name => [name, await parts(name)])));
}

const synced = reading => last = last.catch(() => {}).then(() => new Promise((go, fail) =>  // one after the other
  files.syncfs(reading, error => error ? fail(error) : go())));

async function begin({ instance, address, sizes, keeps: wanted }) {
  const tell = (step, done) => postMessage({ step, done });
  const parts = await loaded(sizes, tell);
  tell("Starting Python …", 0.6);
  const { loadPyodide } = await import("./pyodide.mjs");
  python = await loadPyodide({ env: { HOME: FOLDER }, stdLibURL: new URL("python_stdlib.zip", location).href });
  const { _module: memory, _api: events } = python, end = memory._emscripten_stack_get_base() - STACK;
  memory._PyUnstable_ThreadState_SetStackProtection(memory._PyThreadState_Get(), end, STACK);
  files = python.FS;
  events.on_fatal = () => {
    files.writeFile(`${FOLDER}/.ended`, "");  // in_browser.py asks for it
    synced(false).finally(() => postMessage({ ended: true }));
  };
  tell("Unpacking …", 0.8);
  files.mkdirTree(FOLDER);
  keeps = wanted;
  if (keeps) {
    files.mount(files.filesystems.IDBFS, {}, FOLDER);
    await synced(true).catch(() => (keeps = false));
  }
  files.chdir(FOLDER);
  files.writeFile("/studio.pack", new Uint8Array(parts["studio.pack"]));
  python.runPython("import packed; packed.unpacked(open('/studio.pack', 'rb').read())");
  tell("Starting the studio …", 0.9);
  home = await python.pyimport("interpreter.studio.in_browser").begin(address);
  if (keeps) await synced(false);
  new BroadcastChannel(instance).onmessage = answer;
  navigator.locks.request(instance, () => new Promise(() => postMessage({ ready: true })));
}

function answer({ data: { id, method, url, headers, body } }) {
  const port = new BroadcastChannel(id), tell = (what, value) => {
    port.postMessage({ [what]: value?.toJs?.() ?? value });
    if (what === "end") port.close();
    if (what === "end" && keeps && method === "POST" && !url.includes("/lsp?")) {
      clearTimeout(saving);
      saving = setTimeout(() => synced(false).catch(error => console.error(error)), SAVED);
    }
  };
  const cancel = home.request(method, url, python.toPy(headers), python.toPy(body).tobytes(), tell);
  port.onmessage = () => cancel();
}

onmessage = ({ data }) => begin(data).catch(error => {
  console.error(error);
  postMessage({ error: String(error.message ?? error).trim().split("\n").pop() });
});
