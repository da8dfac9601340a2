// The state of a page as the fragment of its address: #name=value&name=value.

// A percent sign that begins no escape means itself, so that both 1% and 1%25 are one percent.
function decoded(text) {
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return text; // escapes that are not UTF-8
  }
}

// The link that skips to the content moves the focus and leaves the fragment as it is.
export function keepFragment() {
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    document.getElementById('main').focus();
  });
}

// Returns a Map of the fragment; of a name that occurs twice, the last value.
export function readFragment(fragment) {
  const state = new Map();
  for (const part of fragment.replace(/^#\??/, '').split('&')) {
    const at = part.indexOf('=');
    if (at > 0) state.set(decoded(part.slice(0, at)).toLowerCase(), decoded(part.slice(at + 1)));
  }
  return state;
}

// Leaves readable what an address may contain.
const encoded = (text) => encodeURIComponent(text).replace(/%25(?![0-9a-f]{2})/gi, '%')
  .replaceAll('%2F', '/');

export function writeFragment(entries) {
  const parts = entries.filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return `#${parts.join('&')}`;
}

// Replaces the fragment without an entry in the history. Browsers refuse this when it is done very
// often; then the next change does it.
export function replaceFragment(entries) {
  const fragment = writeFragment(entries);
  if (fragment === location.hash || (fragment === '#' && location.hash === '')) return;
  try {
    history.replaceState(null, '', fragment === '#' ? location.pathname + location.search
      : fragment);
  } catch (error) {
    if (error.name !== 'SecurityError') throw error;
  }
}
