// The host's page: copies and shares links.
document.addEventListener("click", async ({ target }) => {
  const { copy, share, done } = target.dataset;
  if (share) return navigator.share({ title: document.title, url: share }).catch(() => {});
  if (!copy) return;
  await navigator.clipboard.writeText(copy);
  target.textContent = done;
});
for (const button of document.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
for (const button of document.querySelectorAll("[inert]")) button.inert = false; // until now a press was lost
