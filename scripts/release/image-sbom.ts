import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ImageName, images } from '../deploy/images/images.ts'
import { readJson, root } from '../packaging/published-packages.ts'
import { type Dependencies, findDependencies, readLockFile } from './lock-file.ts'
import { type Bom, type Component, toBom, toNeeds, toNpmComponent } from './sbom.ts'

/** Creates the bill of materials of an image of this repository. Its root is mounted at `folder`. */
export function createImageBom(name: ImageName, folder: string): Bom {
  const manifest = readJson<{ version: string; optionalDependencies: Record<string, string> }>(
    join(root, 'package.json'),
  )
  const [nodeVersion = ''] = Object.values(manifest.optionalDependencies)
  return toImageBom({
    name: `portcullis-${name}`,
    version: manifest.version,
    folder,
    nodeVersion,
    dependencies: findDependencies(readLockFile(), images[name].package),
  })
}

export interface ImageParts {
  readonly name: string
  readonly version: string
  /** The mounted root of the image. */
  readonly folder: string
  readonly nodeVersion: string
  /** The dependencies of its program. */
  readonly dependencies: Dependencies
}

/** The bill of materials of an image: the npm packages that are in it, Node, and the Debian packages. */
export function toImageBom({ name, version, folder, nodeVersion, dependencies }: ImageParts): Bom {
  const ref = `${name}:${version}`
  const subject: Component = { type: 'container', 'bom-ref': ref, name, version }
  const installed = new Map(
    [...dependencies.all].filter(([, { name: own }]) => isInstalled(folder, own)),
  )
  const node: Component = {
    type: 'application',
    'bom-ref': `pkg:generic/node@${nodeVersion}`,
    name: 'node',
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
  }
  const system = readDebianPackages(folder)
  const needs = toNeeds(ref, { direct: dependencies.direct, all: installed })
  const own = [node, ...system].map((one) => one['bom-ref'])
  needs.set(ref, [...(needs.get(ref) ?? []), ...own])
  const libraries = [...installed.values()].map(toNpmComponent)
  return toBom({ subject, components: [...libraries, node, ...system], needs })
}

/** Whether the image contains a package: optional packages for other systems are missing. */
function isInstalled(folder: string, name: string): boolean {
  try {
    readFileSync(join(folder, 'app/node_modules', name, 'package.json'))
    return true
  } catch {
    return false
  }
}

/** The packages in the database of dpkg. Empty if the image is not based on Debian. */
function readDebianPackages(folder: string): Component[] {
  let status: string
  try {
    status = readFileSync(join(folder, 'var/lib/dpkg/status'), 'utf8')
  } catch {
    return []
  }
  return status
    .split('\n\n')
    .filter((block) => /^Status: install ok installed$/m.test(block))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(block)?.[1] ?? ''
      const [name, version] = [field('Package'), field('Version')]
      const encoded = encodeURIComponent(version)
      const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encoded}?arch=${field('Architecture')}`
      return { type: 'library', 'bom-ref': purl, name, version, purl }
    })
}
