import type { CommandNode, CommandOption } from '../command-tree.ts'

const config: CommandOption = {
  flags: ['-c', '--config'],
  summary: 'read this file of variables in place of .env',
  value: 'file',
}
const folder: CommandOption = {
  flags: ['-d', '--config-dir'],
  summary: 'read the files *.env of this folder as well',
  value: 'directory',
}
const files = [config, folder] as const
const audience: CommandOption = {
  flags: ['--aud'],
  summary: 'of the user; AUTH_JWT_AUD by default',
  value: 'any',
}

export const authTree: CommandNode = {
  summary: 'the auth server and its commands',
  commands: {
    up: { summary: 'migrate, then serve', options: files },
    serve: { summary: 'serve, on tables that are up to date', options: files },
    migrate: {
      summary: 'bring the tables up to date',
      options: [
        ...files,
        { flags: ['--print-grants'], summary: 'print what a role needs to serve', value: 'any' },
        { flags: ['--accept-changed'], summary: 'accept files that were changed afterwards' },
      ],
    },
    backup: {
      summary: 'write a backup of the database, while servers run',
      options: files,
      operands: 'file',
    },
    restore: {
      summary: 'fill an empty database from a backup',
      options: files,
      operands: 'file',
    },
    keys: {
      summary: 'show and replace the keys of refresh tokens, codes and second factors',
      options: files,
      commands: {
        list: { summary: 'the versions of each key', options: files, operands: 'any' },
        rotate: { summary: 'add a new version', options: files, operands: 'any' },
        retire: {
          summary: 'delete older versions that nothing needs any more',
          options: [...files, { flags: ['--force'], summary: 'also where sessions or codes end' }],
          operands: 'any',
        },
        unwrap: { summary: 'store all keys without encryption', options: files },
      },
    },
    admin: {
      summary: 'create, delete, ban and list users; revoke sessions',
      options: files,
      commands: {
        createuser: {
          summary: 'create a user; nothing is sent',
          options: [
            ...files,
            { flags: ['--confirm'], summary: 'the address counts as confirmed' },
            { flags: ['--admin'], summary: 'the role is that of an admin' },
            audience,
          ],
          operands: 'any',
        },
        deleteuser: {
          summary: 'delete a user with all that belongs to them',
          options: [...files, { flags: ['--soft'], summary: 'keep the id alone' }, audience],
          operands: 'any',
        },
        banuser: {
          summary: 'keep a user out for a time',
          options: [...files, audience],
          operands: 'any',
        },
        revokesessions: {
          summary: 'sign a user out everywhere, or everybody',
          options: [...files, { flags: ['--all'], summary: 'every user' }, audience],
          operands: 'any',
        },
        listusers: {
          summary: 'the newest users',
          options: [
            ...files,
            { flags: ['--filter'], summary: 'only those that hold this text', value: 'any' },
            { flags: ['--limit'], summary: 'how many', value: 'any' },
            { flags: ['--json'], summary: 'one object a line' },
            audience,
          ],
        },
      },
    },
    config: {
      summary: 'check the configuration',
      options: files,
      commands: {
        check: { summary: 'say everything that is wrong or doubtful', options: files },
      },
    },
    redirect: {
      summary: 'explain why a URL is permitted as redirect_to, or not',
      options: files,
      commands: {
        explain: { summary: 'say for each URL whether', options: files, operands: 'any' },
      },
    },
  },
}
