// go.html#URL, sandboxed: a URL opened from here has no initiator, and not the extension's
// permissions.
const to = location.href.slice(location.href.indexOf('#') + 1);
if (/^https?:\/\//.test(to)) {
  location.replace(to);
  // Still here: it was a download.
  setTimeout(() => location.replace(`check.html?gone#${to}`), 4000);
}
