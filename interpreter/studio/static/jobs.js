// Shows what is known of a job until it is over, and goes to the place in a file that a page names.
const shown = document.querySelector("[data-job]"), { go } = document.body.dataset;
async function look() {
  const start = Date.now(), answer = await fetch(shown.dataset.job);
  if (answer.ok) Idiomorph.morph(shown, await answer.text(), { morphStyle: "innerHTML" });
  if (answer.ok && shown.querySelector("progress")) setTimeout(look, Math.max(200, 4 * (Date.now() - start)));
}
if (go) top.location.hash = new URL(go, location.href).hash;
if (shown) look();
