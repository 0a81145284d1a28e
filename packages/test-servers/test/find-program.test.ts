import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findProgram } from '../src/programs/find-program.ts'
import type { Program } from '../src/programs/programs.ts'

async function openFiles(t: TestContext, files: Record<string, number>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-find-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [file, mode] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), '', { mode })
  }
  return folder
}

const programOf = (places: string[], beside?: string[]): Program => ({
  binaries: ['server', 'server-ng'],
  places,
  debianPackage: 'server',
  homebrewPackage: 'server',
  ...(beside && { beside }),
})

test('PATH comes before the usual places, and the first name before the second', async (t) => {
  const folder = await openFiles(t, {
    'path-a/server-ng': 0o755,
    'path-b/server': 0o755,
    'place/server': 0o755,
  })
  const path = [join(folder, 'path-a'), '', join(folder, 'path-b')].join(delimiter)
  const program = programOf([join(folder, 'place')])
  assert.equal(findProgram(program, path), join(folder, 'path-b/server'))
  assert.equal(findProgram(program, ''), join(folder, 'place/server'))
})

test('a program that must be of one version is not taken from PATH', async (t) => {
  const folder = await openFiles(t, { 'path/server': 0o755, 'place/server': 0o755 })
  const program = { ...programOf([join(folder, 'place')]), ignoresPath: true }
  assert.equal(findProgram(program, join(folder, 'path')), join(folder, 'place/server'))
})

test('the highest of several versions is chosen', async (t) => {
  const folder = await openFiles(t, {
    'lib/9/bin/server': 0o755,
    'lib/15/bin/server': 0o755,
    'lib/16/bin/server': 0o644,
  })
  assert.equal(
    findProgram(programOf([join(folder, 'lib/*/bin')]), ''),
    join(folder, 'lib/15/bin/server'),
  )
  assert.equal(findProgram(programOf([join(folder, 'none/*/bin')]), ''), undefined)
})

test('a link is resolved to the folder with the required neighbours; without them the program is not found', async (t) => {
  const folder = await openFiles(t, {
    'real/server': 0o755,
    'real/companion': 0o755,
    'alone/server': 0o755,
    'bin/other': 0o755,
  })
  await symlink(join(folder, 'real/server'), join(folder, 'bin/server'))
  const program = programOf([], ['companion'])
  assert.equal(findProgram(program, join(folder, 'bin')), join(folder, 'real/server'))
  assert.equal(findProgram(program, join(folder, 'alone')), undefined)
})

test('a place can be below the home directory', async (t) => {
  const folder = await mkdtemp(join(homedir(), '.portcullis-find-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'server'), '', { mode: 0o755 })
  assert.equal(findProgram(programOf([`~/${basename(folder)}`]), ''), join(folder, 'server'))
})
