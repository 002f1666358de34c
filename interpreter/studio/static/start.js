// Starts the studio of a static site: a service worker (sw.js) hands requests below app/INSTANCE/ to this page's worker
// (worker.js) over a channel of that name. The worker runs the application; the studio is then shown in a frame.
const [step, bar, anyway, ended, again] = document.querySelectorAll("[id]"); // in the order of the page
const instance = crypto.randomUUID?.(), app = new URL(`app/${instance}/`, location.origin + location.pathname);

function fail(text) {
  bar.remove();
  step.setAttribute("role", "alert");
  step.textContent = `The studio cannot start: ${text}`;
}

function begin({ sizes }, keeps) {
  const worker = new Worker("worker.js", { type: "module" });
  worker.onerror = event => fail(event.message || "its worker cannot be loaded.");
  worker.onmessage = ({ data }) => {
    if (data.error || data.ended) worker.terminate();
    if (data.error) return fail(data.error);
    if (data.ended) return document.body.replaceChildren(ended);
    if (!data.ready) return void ([step.textContent, bar.value] = [data.step, data.done]);
    const frame = Object.assign(document.createElement("iframe"), { name: "studio", title: "Regelwerk studio" });
    frame.src = app + location.search + location.hash;
    document.body.replaceChildren(frame);
    onhashchange = ({ newURL }) => { frame.contentWindow.location.hash = new URL(newURL).hash; };
  };
  worker.postMessage({ instance, address: app.href.slice(0, -1), sizes, keeps });
}

again.onclick = () => location.reload();
try {
  if (!window.isSecureContext) throw Error("its address must begin with https:// or be localhost.");
  if (typeof WebAssembly !== "object") throw Error("this browser has no WebAssembly, or it is turned off.");
  if (!navigator.serviceWorker) throw Error("this browser has no service workers, or none in private windows.");
  const site = await (await fetch("site.json", { cache: "no-cache" })).json();
  const script = new URL(`sw.js?${site.digest}`, location).href;
  await navigator.serviceWorker.register(script, { updateViaCache: "none" });
  while (navigator.serviceWorker.controller?.scriptURL !== script) await new Promise(go => setTimeout(go, 20));
  navigator.locks.request(location.pathname, { ifAvailable: true }, lock => {  // one tab has the files
    if (lock) begin(site, true);
    if (lock) return new Promise(() => 0);
    step.textContent = "Another tab with the studio has your files. Close that tab and reload this page, or:";
    anyway.hidden = false;
    anyway.onclick = () => {
      anyway.remove();
      begin(site, false);
    };
  });
} catch (error) {
  fail(error.message);
}
