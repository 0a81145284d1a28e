import type { CommandNode, CommandOption } from '../command-tree.ts'

const config: CommandOption = {
  flags: ['-c', '--config'],
  summary: 'read variables from this file instead of .env',
  value: 'file',
}
const folder: CommandOption = {
  flags: ['-d', '--config-dir'],
  summary: 'also read the files *.env of this folder',
  value: 'directory',
}
const files = [config, folder] as const
const audience: CommandOption = {
  flags: ['--aud'],
  summary: 'audience of the user; default: AUTH_JWT_AUD',
  value: 'any',
}

const dryRun: CommandOption = {
  flags: ['--dry-run'],
  summary: 'report the result and write nothing',
}
const asJson: CommandOption = { flags: ['--json'], summary: 'print the report as JSON' }

export const authTree: CommandNode = {
  summary: 'the auth server and its commands',
  commands: {
    up: { summary: 'migrate, then serve', options: files },
    serve: { summary: 'serve without migrating', options: files },
    migrate: {
      summary: 'migrate the tables to the current schema',
      options: [
        ...files,
        {
          flags: ['--print-grants'],
          summary: 'print the privileges that a role needs to serve',
          value: 'any',
        },
        {
          flags: ['--accept-changed'],
          summary: 'accept migration files that were changed afterwards',
        },
      ],
    },
    backup: {
      summary: 'write a backup of the database; servers may be running',
      options: files,
      operands: 'file',
    },
    restore: {
      summary: 'restore a backup into an empty database',
      options: files,
      operands: 'file',
    },
    import: {
      summary: 'copy users and sessions from Supabase Auth, or users from a file',
      options: [
        ...files,
        { flags: ['--from'], summary: 'the database of Supabase Auth', value: 'any' },
        dryRun,
        { flags: ['--since'], summary: 'read only rows that changed since', value: 'any' },
        {
          flags: ['--decryption-key'],
          summary: 'a key of encrypted columns: ID=KEY',
          value: 'any',
        },
        { flags: ['--accept-newer'], summary: 'read the tables of a later release' },
        { flags: ['--accept-removals'], summary: 'delete users even if many are missing' },
        { flags: ['--print-sql'], summary: 'print the SQL that points your tables to this schema' },
        { flags: ['--apply-sql'], summary: 'run that SQL in one transaction' },
        { flags: ['--reverse'], summary: 'point your tables to Supabase Auth again' },
        { flags: ['--batch-rows'], summary: 'rows per transaction', value: 'any' },
        { flags: ['--jsonl'], summary: 'import users from JSON lines', value: 'file' },
        { flags: ['--csv'], summary: 'import users from a CSV file', value: 'file' },
        asJson,
      ],
    },
    export: {
      summary: 'write users back into the database of Supabase Auth, or into a file',
      options: [
        ...files,
        { flags: ['--to'], summary: 'the database of Supabase Auth', value: 'any' },
        dryRun,
        { flags: ['--jsonl'], summary: 'write users as JSON lines', value: 'file' },
        asJson,
      ],
    },
    keys: {
      summary: 'show and replace the keys of refresh tokens, codes and factors',
      options: files,
      commands: {
        list: { summary: 'list the versions of each key', options: files, operands: 'any' },
        rotate: { summary: 'add a new version', options: files, operands: 'any' },
        retire: {
          summary: 'delete older versions that are no longer needed',
          options: [
            ...files,
            { flags: ['--force'], summary: 'continue even if sessions or codes become invalid' },
          ],
          operands: 'any',
        },
        passwords: { summary: 'encrypt or decrypt all password hashes', options: files },
        unwrap: { summary: 'store all keys and password hashes unencrypted', options: files },
      },
    },
    admin: {
      summary: 'create, delete, ban and list users; revoke sessions',
      options: files,
      commands: {
        createuser: {
          summary: 'create a user without sending a message',
          options: [
            ...files,
            { flags: ['--confirm'], summary: 'mark the email address as confirmed' },
            { flags: ['--admin'], summary: 'use the admin role' },
            audience,
          ],
          operands: 'any',
        },
        deleteuser: {
          summary: 'delete a user and all their data',
          options: [...files, { flags: ['--soft'], summary: 'keep only the id' }, audience],
          operands: 'any',
        },
        banuser: {
          summary: 'ban a user for a duration',
          options: [...files, audience],
          operands: 'any',
        },
        revokesessions: {
          summary: 'sign out all sessions of a user, or of all users',
          options: [...files, { flags: ['--all'], summary: 'all users' }, audience],
          operands: 'any',
        },
        listusers: {
          summary: 'list the newest users',
          options: [
            ...files,
            { flags: ['--filter'], summary: 'only users that contain this text', value: 'any' },
            { flags: ['--limit'], summary: 'how many', value: 'any' },
            { flags: ['--json'], summary: 'print one JSON object per line' },
            audience,
          ],
        },
      },
    },
    config: {
      summary: 'check the configuration',
      options: files,
      commands: {
        check: { summary: 'report all errors and warnings', options: files },
      },
    },
    redirect: {
      summary: 'explain why a URL is or is not allowed as redirect_to',
      options: files,
      commands: {
        explain: {
          summary: 'print for each URL whether it is allowed',
          options: files,
          operands: 'any',
        },
      },
    },
  },
}
