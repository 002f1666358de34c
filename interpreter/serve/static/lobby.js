// The lobby and the form of a table: finds boards, shows that of an edition, picks its parts, moves seats.
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

const [search] = $$("#search");
search?.addEventListener("input", () => {
  const words = search.value.toLowerCase().trim().split(/\s+/);
  for (const offer of $$(".offer")) {
    const text = `${offer.closest("section").firstElementChild.textContent} ${offer.textContent}`.toLowerCase();
    offer.hidden = !words.every((word) => text.includes(word));
  }
});

document.addEventListener("change", ({ target }) => {
  const drawn = target.closest(".offer")?.querySelector("img");
  if (drawn) drawn.src = `board/${target.value}.svg`;
});

// A part of the drawn board stands for the box whose colours it has.
const [board] = $$(".pick");
const boxes = board ? $$("[data-fills]") : [];
const fills = (box) => box.dataset.fills.split(" ");
function show() {
  board?.classList.toggle("some", boxes.some((box) => box.checked));
  for (const box of boxes) {
    for (const part of $$(fills(box).map((fill) => `[fill="${fill}"]`).join(), board)) {
      part.classList.toggle("picked", box.checked);
      part.classList.toggle("near", box === document.activeElement);
    }
  }
}
for (const change of ["change", "focusin"]) document.addEventListener(change, show);
board?.addEventListener("click", ({ target }) => {
  boxes.find((box) => fills(box).includes(target.getAttribute("fill")))?.click();
});
show();

// The fields of a seat keep their names; what is chosen in them moves.
const seats = () => $$(".seats-form > li").filter((seat) => seat.offsetParent);
const seatOf = ({ target }) => seats().indexOf(target.closest("li"));
function move(from, to) {
  const now = seats();
  if (!now[from] || !now[to] || from === to) return;
  const fields = now.map((seat) => $$("select, input", seat));
  const values = fields.map((each) => each.map((field) => field.value));
  values.splice(to, 0, ...values.splice(from, 1));
  fields.forEach((each, n) => each.forEach((field, at) => (field.value = values[n][at])));
}
const [form] = $$(".seats-form");
form?.addEventListener("click", (event) => {
  const by = Number(event.target.closest("[data-by]")?.dataset.by ?? 0);
  const from = seatOf(event);
  move(from, from + by);
  if (by) seats()[from + by]?.querySelector(`[data-by="${by}"]`).focus();
});
let dragged = -1;
form?.addEventListener("dragstart", (event) => (dragged = event.target.matches(".grip") ? seatOf(event) : -1));
form?.addEventListener("dragover", (event) => dragged >= 0 && event.preventDefault());
form?.addEventListener("dragend", () => (dragged = -1));
form?.addEventListener("drop", (event) => {
  event.preventDefault();
  move(dragged, seatOf(event));
});
for (const each of $$("[inert]")) each.inert = false; // until now a press was lost
