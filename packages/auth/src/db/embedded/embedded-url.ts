import { resolve } from 'node:path'

const scheme = 'embedded://'

/** The folder of `embedded://FOLDER`, as it is written there; undefined for any other URL. */
export function parseEmbeddedUrl(url: string): string | undefined {
  if (!url.startsWith(scheme)) return undefined
  const folder = url.slice(scheme.length)
  return folder === '' ? undefined : resolve(folder)
}
