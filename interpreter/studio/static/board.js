// Nodes of a board are dragged, or moved by Shift and arrow keys; the server writes their coordinates.
const sheet = document.querySelector("[data-move]"), said = document.getElementById("said");
const STEP = 4, PAUSE = 600;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
let held = null, timer = 0;

function shift(node, x, y) {
  node.moved = [x, y];
  node.setAttribute("transform", `translate(${x} ${y})`);
}
async function save(node) {
  const at = (axis, before) => Math.round(Number(before) + node.moved[axis] / sheet.dataset.scale);
  const to = { node: node.ariaLabel, x: at(0, node.dataset.x), y: at(1, node.dataset.y) };
  const answer = await fetch(sheet.dataset.move, { method: "POST", body: JSON.stringify(to) });
  const { changed, refused } = await answer.json().catch(() => ({ refused: "The studio does not answer." }));
  said.textContent = refused;
  if (!changed) return shift(node, 0, 0);
  parent.postMessage({ changed }, location.origin);
  sessionStorage.focus = to.node;
  location.reload();
}

for (const node of sheet?.querySelectorAll("[data-x]") ?? []) {
  const point = ({ x, y }) => new DOMPoint(x, y).matrixTransform(node.ownerSVGElement.getScreenCTM().inverse());
  node.onpointerdown = (event) => {
    if (!event.isPrimary || event.button) return;
    node.setPointerCapture(event.pointerId);
    held = { at: point(event), before: node.moved ?? [0, 0] };
  };
  node.onpointermove = (event) => {
    if (!held) return;
    const { x, y } = point(event), by = [x - held.at.x, y - held.at.y];
    held.dragged ||= Math.hypot(...by) > STEP;
    if (held.dragged) shift(node, held.before[0] + by[0], held.before[1] + by[1]);
  };
  node.onpointerup = () => held?.dragged && save(node);
  node.onclick = (event) => {
    if (held?.dragged) event.preventDefault();
    held = null;
  };
  node.ondragstart = () => false;
  node.addEventListener("touchmove", (event) => event.preventDefault(), { passive: false });  // else it scrolls
  node.onkeydown = (event) => {
    const [x, y] = (event.shiftKey && ARROWS[event.key]) || [0, 0], [left, top] = node.moved ?? [0, 0];
    if (!x && !y) return;
    event.preventDefault();
    shift(node, left + STEP * x, top + STEP * y);
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE, node);
  };
  if (node.ariaLabel === sessionStorage.focus) node.focus();
}
delete sessionStorage.focus;
