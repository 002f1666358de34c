// The host's page: copies and shares links.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy], [data-share]");
  if (!button) return;
  const { copy, share, done } = button.dataset;
  if (share) return navigator.share({ title: document.title, url: share }).catch(() => {});
  await navigator.clipboard.writeText(copy);
  button.textContent = done;
});
for (const button of document.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
for (const button of document.querySelectorAll("[inert]")) button.inert = false; // until now a press was lost
