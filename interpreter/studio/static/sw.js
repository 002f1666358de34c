// Answers requests below app/INSTANCE/ by the worker of that instance, and all others from a cache of this site.
const SITE = location.search, ROOT = new URL("./", location).href, APP = new URL("app/", location).pathname;
const FIRST = ["", "start.js", "start.css", "site.json"].map(name => ROOT + name);  // these tell of a new version
const TYPES = { wasm: "application/wasm", mjs: "text/javascript", zip: "application/zip" };  // of files that are packed
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

addEventListener("install", event => {
  skipWaiting();
  event.waitUntil(caches.open(SITE).then(cache => cache.addAll(FIRST)).catch(() => 0));  // no room: it works online
});
addEventListener("activate", event => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== SITE) await caches.delete(name);
  await clients.claim();
})()));

function closed(port, pieces) {
  port.close();
  try {
    pieces.close();
  } catch {} // nobody reads it any more
}
async function answered(request) {
  const [instance] = new URL(request.url).pathname.slice(APP.length).split("/"), id = crypto.randomUUID();
  const lives = (await navigator.locks.query()).held.some(({ name }) => name === instance);  // its worker has the lock
  if (!lives) return request.mode === "navigate" ? Response.redirect(ROOT) : new Response("", { status: 503 });
  const home = new BroadcastChannel(instance), port = new BroadcastChannel(id), { method, headers } = request;
  const body = new Uint8Array(await request.arrayBuffer());
  return new Promise(go => {
    let pieces;
    const cancel = () => port.postMessage("cancel");
    const stream = new ReadableStream({ start: each => void (pieces = each), cancel });
    port.onmessage = ({ data: { head, piece } }) => {
      if (piece) return pieces.enqueue(piece);
      if (!head) return closed(port, pieces);
      const [status, headers] = JSON.parse(head), to = new Headers(headers).get("location");
      const answer = [204, 205, 304].includes(status) ? null : stream;
      go(to ? Response.redirect(to, status) : new Response(answer, { status, headers }));
    };
    home.postMessage({ id, method, url: request.url.replace(/#.*/, ""), headers: [...headers], body });
    home.close();
  });
}

async function kept(url, event) {
  const cache = await caches.open(SITE), type = TYPES[url.split(".").pop()], old = await cache.match(url);
  if (old && !FIRST.includes(url)) return old;
  try {
    let answer = await fetch(type ? `${url}.packed` : url, { cache: "no-cache" });
    if (!answer.ok) return old ?? answer;
    const headers = { "content-type": type ?? answer.headers.get("content-type") };
    if (/\bworker\.js$/.test(url)) headers["content-security-policy"] = POLICY;
    answer = new Response(type ? answer.body.pipeThrough(new DecompressionStream("gzip")) : answer.body, { headers });
    event.waitUntil(cache.put(url, answer.clone()).catch(() => 0));
    return answer;
  } catch { return old ?? Response.error(); }  // offline
}
addEventListener("fetch", event => {
  const { origin, pathname } = new URL(event.request.url);
  if (origin !== location.origin) return;
  event.respondWith(pathname.startsWith(APP) ? answered(event.request) : kept(origin + pathname, event));
});
