// Shows what an event stream brings of a job, and goes to the place in a file that a page names.
const shown = document.querySelector("[data-events]"), { go } = document.body.dataset;
if (go) top.location.hash = new URL(go, location.href).hash;
if (shown) {
  const events = new EventSource(shown.dataset.events);
  const show = ({ data }) => Idiomorph.morph(shown, JSON.parse(data), { morphStyle: "innerHTML" });
  events.addEventListener("more", show);
  events.addEventListener("over", show);
  events.addEventListener("over", () => events.close());
}
