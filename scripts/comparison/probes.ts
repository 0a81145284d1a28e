import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startChild } from '@portcullis/bench-kit/child'
import type { Installed } from './workspace.ts'

/** The title of each probe of an area, by its name. */
async function readTitles(area: string): Promise<readonly (readonly [string, string])[]> {
  const file = pathToFileURL(join(import.meta.dirname, 'programs', area, 'probes.mjs'))
  const { probes }: { probes: Readonly<Record<string, { readonly title: string }>> } = await import(
    file.href
  )
  return Object.entries(probes).map(([name, { title }]) => [name, title])
}

/**
 * Runs every probe of an area against every library. A row contains its title and a value for each
 * library.
 */
export async function probeFeatures(
  area: string,
  installed: readonly Installed[],
  env: Readonly<Record<string, string>>,
  note: (what: string) => void,
): Promise<string[][]> {
  const values: Readonly<Record<string, string>>[] = []
  for (const { library, folder } of installed) {
    note(`features of ${library.name}`)
    const name = library.packages[0]?.replace(/(?<=.)@.*/, '') ?? ''
    using child = startChild(pathToFileURL(join(folder, 'run-probes.mjs')), {
      args: [area, library.id, name],
      execArgv: ['--no-warnings'],
      env: { ...env, NODE_ENV: 'production' },
      replyTimeoutSeconds: 120,
    })
    values.push(await child.receive<Readonly<Record<string, string>>>())
  }
  const titles = await readTitles(area)
  return titles.map(([name, title]) => [title, ...values.map((value) => value[name] ?? '')])
}
