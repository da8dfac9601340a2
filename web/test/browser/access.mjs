// What tests of accessibility share.

// The tree that assistive technology gets.
export async function tree(context, page) {
  const { nodes } = await (await context.newCDPSession(page)).send('Accessibility.getFullAXTree');
  return nodes.filter((node) => !node.ignored)
    .map(({ role, name }) => ({ role: role?.value, name: name?.value ?? '' }));
}

// Runs in the page: returns texts whose contrast is below 4.5 to 1 (WCAG 2.1, 1.4.3), or 3 to 1 for
// big ones.
export function poorContrast() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data);
  };
  const light = (color) => rgba(color).slice(0, 3)
    .map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (it) => {
    for (; it; it = it.parentElement)
      if (rgba(getComputedStyle(it).backgroundColor)[3] === 255)
        return getComputedStyle(it).backgroundColor;
    return 'white';
  };
  const poor = [];
  for (const it of document.querySelectorAll('body *')) {
    const own = Array.from(it.childNodes)
      .some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '');
    const style = getComputedStyle(it), size = parseFloat(style.fontSize);
    if (!own || !it.checkVisibility() || it.closest('.visually-hidden, :disabled, .columns-many') ||
      size === 0) continue;
    const color = it instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(color), light(behind(it))].sort((x, y) => y - x),
      ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5))
      poor.push(`${it.tagName}.${it.getAttribute('class')} ${it.textContent.slice(0, 30)}: ` +
        ratio.toFixed(2));
  }
  return [...new Set(poor)];
}
