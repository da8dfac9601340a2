// go.html#URL, sandboxed: a URL opened from here has no initiator, and not the extension's
// permissions. Only check.html can open it. If it is still there after a while, the URL is a
// download, or its server is slow. It then explains so itself, because going to another page would
// cancel the request.
const to = location.href.slice(location.href.indexOf('#') + 1);

function explain() {
  const $ = (id) => document.getElementById(id);
  document.body.className = window.top === window ? '' : 'framed';
  document.title = document.querySelector('h1').textContent;
  $('host').textContent = new URL(to).hostname;
  $('back').hidden = window.top !== window || history.length < 2;
  $('back').addEventListener('click', () => history.back());
  document.querySelector('main').hidden = false;
  if (!$('back').hidden) $('back').focus();
}

if (/^https?:\/\//.test(to)) {
  location.replace(to);
  setTimeout(explain, 4000);
}
