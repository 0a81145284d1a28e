// Writes the documents of a release, and checks its version. `npm run release -- --help` lists the commands.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toArgumentError, toVerbFault } from '@portcullis/service-kit/cli/argument-faults'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { type ImageName, images } from './deploy/images/images.ts'
import { toInsideNames } from './packaging/build-package.ts'
import { findPublishedPackages } from './packaging/published-packages.ts'
import { createImageBom } from './release/image-sbom.ts'
import { findDependencies, readLockFile } from './release/lock-file.ts'
import { readRunEnvironment, toProvenance } from './release/provenance.ts'
import { toPackageBom } from './release/sbom.ts'
import { findOtherVersions } from './release/versions.ts'

const commands: Readonly<Record<string, (argument: string) => void>> = {
  sbom(folder) {
    const lockFile = readLockFile()
    for (const published of findPublishedPackages()) {
      const { name, manifest } = published
      const { name: fullName, version } = manifest
      const bundled = Object.values(toInsideNames(published))
      const bom = toPackageBom(
        { name: fullName, version, license: `${manifest['license']}` },
        findDependencies(lockFile, name, bundled),
      )
      write(folder, `portcullis-${name}-package.cdx.json`, bom)
    }
  },
  'image-sbom'(folder) {
    const { IMAGE: image = '', IMAGE_ROOT: imageRoot = '' } = process.env
    if (!isImageName(image) || imageRoot === '') {
      throw new Error(
        'Set IMAGE to the name of an image, such as auth, and IMAGE_ROOT to its mounted root folder.',
      )
    }
    write(folder, `portcullis-${image}-image.cdx.json`, createImageBom(image, imageRoot))
  },
  provenance(folder) {
    write(folder, 'provenance.json', toProvenance(readRunEnvironment(process.env)))
  },
  version(version) {
    const others = findOtherVersions(version)
    for (const other of others) console.error(other)
    if (others.length > 0) process.exitCode = 1
  },
}

const help = `Usage: npm run release -- VERB DIR
       npm run release -- version X.Y.Z

Writes the documents of a release into DIR, or checks its version. See
docs/releases.md.

  sbom DIR        writes a software bill of materials (CycloneDX) for each
                  published package
  image-sbom DIR  writes it for the image $IMAGE, whose root is mounted at
                  $IMAGE_ROOT
  provenance DIR  writes the provenance of this run of the release workflow
  version X.Y.Z   lists every file that has another version, and exits with
                  code 1 if there are any

Options:
  --help          show this text

Exit codes: 0 on success, 1 on failure, 2 for invalid arguments.`

const [name = '', argument = '', ...others] = process.argv.slice(2)
const command = commands[name]
if (name === '--help' || name === '-h') {
  console.log(help)
} else if (command === undefined || argument === '' || others.length > 0) {
  process.stderr.write(toArgumentError('npm run release --', findFault()))
  process.exitCode = 2
} else {
  try {
    command(argument)
  } catch (error) {
    console.error(toMessage(error))
    process.exitCode = 1
  }
}

function findFault(): string {
  if (command === undefined) return toVerbFault(name || undefined, Object.keys(commands))
  if (argument === '')
    return name === 'version' ? 'The version is missing.' : 'The folder is missing.'
  return `Unexpected argument ${JSON.stringify(others[0])}.`
}

function isImageName(name: string): name is ImageName {
  return Object.hasOwn(images, name)
}

function write(folder: string, file: string, content: object): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, file), `${JSON.stringify(content, null, 2)}\n`)
  console.log(join(folder, file))
}
