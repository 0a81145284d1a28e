import { globSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AddRoutes } from '../settings.ts'

/**
 * Loads the routes of all pages: every module in this folder that exports `addRoutes`. There is one module per page,
 * or per feature that several pages share.
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
