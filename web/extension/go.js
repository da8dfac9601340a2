// go.html#URL, sandboxed: what is opened from here is opened by nobody in particular, without the extension's permissions.
const to = location.href.slice(location.href.indexOf('#') + 1);
if (/^https?:\/\//.test(to)) {
  location.replace(to);
  // Still here: it was a download.
  setTimeout(() => location.replace(`check.html?gone#${to}`), 4000);
}
