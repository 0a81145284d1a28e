import { readUsers } from '../read-users.ts'
import type { Search } from '../search.ts'
import type { ExportFormat } from './formats.ts'

/**
 * Reads all users of a search. Each slice becomes a separate blob, which the browser keeps outside the memory of the
 * page.
 * @param onProgress Called with the number of users so far.
 */
export async function exportUsers(
  search: Search,
  format: ExportFormat,
  signal: AbortSignal,
  onProgress: (count: number) => void,
): Promise<Blob> {
  const parts: Blob[] = [new Blob([format.head])]
  let count = 0
  for await (const users of readUsers(search, signal)) {
    parts.push(new Blob([users.map(format.toText).join('')]))
    count += users.length
    onProgress(count)
  }
  return new Blob(parts, { type: format.mediaType })
}

const keptMs = 60_000

/** Saves a file to the downloads of the browser. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the content after the click.
  setTimeout(() => URL.revokeObjectURL(url), keptMs)
}
