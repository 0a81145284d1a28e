import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** One file, or several by their names. */
export type RuleFiles = string | Readonly<Record<string, string>>

/** A folder of rule files that a service reads. */
export interface RuleDirectory {
  readonly path: string
  /** Replaces the text of a file atomically. */
  replace(text: string, name?: string): Promise<void>
}

/** Creates a folder with these files, which is deleted after the test. */
export async function makeRules(
  t: Pick<TestContext, 'after'>,
  files: RuleFiles,
): Promise<RuleDirectory> {
  const scratch = await mkdtemp(join(tmpdir(), 'ratelimit-service-'))
  t.after(() => rm(scratch, { recursive: true, force: true }))
  const path = join(scratch, 'rules')
  await mkdir(path)
  const replace = async (text: string, name = 'rules.yaml') => {
    const draft = join(scratch, 'draft')
    await writeFile(draft, text)
    await rename(draft, join(path, name))
  }
  const named = typeof files === 'string' ? { 'rules.yaml': files } : files
  for (const [name, text] of Object.entries(named)) await replace(text, name)
  return { path, replace }
}
