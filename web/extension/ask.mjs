// How the pages of the extension ask its worker. There is always an answer, at worst { problem }.
export async function ask(what) {
  try {
    return await chrome.runtime.sendMessage(what) ?? { problem: 'the extension does not answer' };
  } catch (e) {
    return { problem: e.message };
  }
}
