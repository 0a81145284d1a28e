import type { PackageTable } from '../table.ts'

const libraries = `
  @node-rs/argon2 @node-rs/bcrypt @opentelemetry/* @portcullis/grpc-unary @portcullis/service-kit
  @redis/client @simplewebauthn/server fastify jose nodemailer otpauth uqr node:*`

export const auth: PackageTable = {
  'main.ts': { inside: 'commands/**', outside: '@portcullis/service-kit node:module node:process' },
  'commands/**': { inside: '**', outside: '@portcullis/service-kit node:* process.env' },

  'endpoints/**': {
    inside: 'http/** core/** db/** config/** errors.ts',
    because: 'An endpoint declares a request and calls the rules: it sees no driver.',
  },
  'providers/**': {
    inside: 'core/** config/** errors.ts',
    outside: 'jose node:crypto',
    because: 'A provider describes one service, and knows nobody who uses it.',
  },
  'verify/**': {
    outside: '@portcullis/service-kit/similar-names jose node:http',
    types: 'fastify',
    because: 'The verifier runs in other programs, without the auth server.',
  },

  'http/**': { inside: '**', outside: libraries },
  'core/**': { inside: '**', outside: libraries },
  'config/**': { inside: '**', outside: libraries },
  'db/connection/': { inside: '**', outside: 'pg node:* process.env' },
  'db/**': { inside: '**', outside: 'pg pg-copy-streams @portcullis/service-kit node:*' },
  'errors.ts': {},
  '**': { inside: '**', outside: libraries },
}
