// A dialog before everything else; who closes it is where they were.
export function modal(box: HTMLDialogElement): () => void {
  const before = document.activeElement;
  box.showModal();
  return () => {
    box.close(); // as long as it is open, nothing behind it takes the focus
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
}
