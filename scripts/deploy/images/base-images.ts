import { cpSync } from 'node:fs'
import { addNode, addSettings } from '../../bare-system/bare-system.ts'
import { provideBase } from '../../bare-system/base.ts'
import { readMachine } from '../../bare-system/machine.ts'
import { users } from '../../bare-system/users.ts'
import type { Buildah } from './buildah.ts'

export const baseImage = 'localhost/base'
export const buildImage = 'localhost/build'

/**
 * Creates two base images from the Debian mirror of this machine, so that no image registry is needed: a minimal
 * Debian with Node, and the same with npm and the settings to reach the package registry.
 */
export async function createBaseImages(buildah: Buildah, cache: string): Promise<void> {
  const known = await buildah.call('images', '--format', '{{.Name}}')
  if (known.split('\n').includes(buildImage)) return
  const machine = await readMachine()
  const archive = await provideBase(cache, machine)
  console.log('Importing the base images…')
  const base = await buildah.call('from', 'scratch')
  await buildah.call('add', '--quiet', base, archive, '/')
  cpSync(process.execPath, `${await buildah.call('mount', base)}/usr/local/bin/node`)
  const path = `PATH=${users.root.path}`
  await buildah.call('config', '--env', path, base)
  await buildah.call('commit', '--quiet', '--rm', base, baseImage)

  const build = await buildah.call('from', '--pull-never', baseImage)
  const folder = await buildah.call('mount', build)
  addNode(folder, { ...machine, node: process.execPath })
  const environment = await addSettings(folder, users.root, machine)
  const variables = Object.entries(environment).flatMap(([name, value]) => [
    '--env',
    `${name}=${value}`,
  ])
  await buildah.call('config', ...variables, build)
  await buildah.call('commit', '--quiet', '--rm', build, buildImage)
}
