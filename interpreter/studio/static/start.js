// Starts the studio of a static site: a service worker (sw.js) hands requests below app/INSTANCE/ to this page's worker
// (worker.js), which runs the application; the studio is then shown in a frame.
const [step, bar, anyway] = ["#step", "#bar", "#anyway"].map(id => document.querySelector(id));
const instance = crypto.randomUUID?.(), app = new URL(`app/${instance}/`, location.origin + location.pathname);

function fail(text, what = "The studio cannot start") {
  bar.remove();
  step.setAttribute("role", "alert");
  step.textContent = `${what}: ${text}`;
}

function tell(text, done) {
  step.textContent = text;
  bar.value = done;
}

function begin({ sizes }, keeps) {
  const worker = new Worker("worker.js", { type: "module" });
  worker.onerror = event => fail(event.message || "its worker cannot be loaded.");
  worker.onmessage = ({ data }) => {
    if (data.error || data.ended) worker.terminate();
    if (data.error) return fail(data.error);
    if (data.ended) {
      const again = Object.assign(document.createElement("button"), { textContent: "Start again" });
      again.onclick = () => location.reload();
      document.body.replaceChildren(step, again);
      const kept = "Your files are kept; this one is not read until you change it.";
      return fail(`a text is nested too deep for this browser. ${kept}`, "Python has ended");
    }
    if (data.step) return tell(data.step, data.done);
    const frame = Object.assign(document.createElement("iframe"), { name: "studio", title: "Regelwerk studio" });
    frame.src = app + location.search + location.hash;
    document.body.replaceChildren(frame);
    onhashchange = ({ newURL }) => { frame.contentWindow.location.hash = new URL(newURL).hash; };
  };
  navigator.serviceWorker.addEventListener("message", ({ data, source }) => {  // it asks again after it was stopped
    if (data.wanted !== instance) return;
    const { port1, port2 } = new MessageChannel();
    worker.postMessage({}, [port1]);
    source.postMessage({ home: instance }, [port2]);
  });
  worker.postMessage({ address: app.href.slice(0, -1), sizes, keeps });
}

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
