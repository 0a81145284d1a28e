/**
 * Writes a URL as browsers do: percent-encoded, so that it is ASCII and fits into a header; with dot
 * segments resolved, and with the host in lower case or in Punycode. A host without a path keeps none
 * (`https://site.example#…`), because that is how clients know the URL of the site.
 * @param edit changes the URL before it is written.
 * @throws {TypeError} unless it is an absolute URL.
 */
export function serialiseUrl(text: string, edit: (url: URL) => void = () => {}): string {
  const url = new URL(text)
  edit(url)
  return hasNoPath.test(text) ? url.href.replace(rootPath, '$1') : url.href
}

const hasNoPath = /^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*(?:[?#]|$)/i
const rootPath = /^([^/?#]*:\/\/[^/?#]*)\/(?=[?#]|$)/
