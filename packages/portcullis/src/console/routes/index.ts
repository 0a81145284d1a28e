import { globSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AddRoutes } from '../settings.ts'

/**
 * The routes of all pages: every module beside this one that exports `addRoutes`. There is one per page, or per thing
 * that several pages need; the other modules help these.
 */
export async function loadRoutes(): Promise<readonly AddRoutes[]> {
  const index = basename(import.meta.filename)
  const names = globSync(`*${extname(index)}`, { cwd: import.meta.dirname })
  const modules = names.filter((name) => name !== index).map(loadModule)
  return (await Promise.all(modules)).flatMap(({ addRoutes }) => addRoutes ?? [])
}

function loadModule(name: string): Promise<{ readonly addRoutes?: AddRoutes }> {
  return import(pathToFileURL(join(import.meta.dirname, name)).href)
}
