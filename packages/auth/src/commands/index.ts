import type { Command } from '@portcullis/service-kit/cli/command'

type Load = () => Promise<Command>

/** The order in which help lists the commands. */
export function commands(version: string): Readonly<Record<string, Load>> {
  return {
    up: async () => (await import('./serve.ts')).createServe(version, true),
    serve: async () => (await import('./serve.ts')).createServe(version, false),
    migrate: async () => (await import('./migrate.ts')).migrateCommand,
    backup: async () => (await import('./backup.ts')).createBackup(version),
    restore: async () => (await import('./backup.ts')).restore,
    import: async () => (await import('./import.ts')).importCommand,
    export: async () => (await import('./export.ts')).exportCommand,
    keys: async () => (await import('./keys/command.ts')).keysCommand,
    admin: async () => (await import('./admin/command.ts')).createAdmin(version),
    config: async () => (await import('./config.ts')).config,
    redirect: async () => (await import('./redirect.ts')).redirect,
  }
}
