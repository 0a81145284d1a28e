import type { CommandNode, CommandOption } from '../command-tree.ts'

const merge: CommandOption = {
  flags: ['--merge'],
  summary: 'allow several files to define one domain',
}
const json: CommandOption = { flags: ['--json'], summary: 'print one JSON object instead of text' }
const strict: CommandOption = { flags: ['--strict'], summary: 'treat warnings as errors' }

export const ratelimitTree: CommandNode = {
  summary: 'the rate limit service and its commands',
  commands: {
    serve: {
      summary: 'run the service',
      options: [
        {
          flags: ['--rules'],
          summary: 'folder of rule files to read and watch',
          value: 'directory',
        },
      ],
    },
    client: {
      summary: 'send a rate limit request to a server',
      options: [
        { flags: ['-dial_string'], summary: 'HOST:PORT of the server, or unix:PATH', value: 'any' },
        { flags: ['-domain'], summary: 'the domain of the rules', value: 'any' },
        { flags: ['-descriptors'], summary: 'the entries of one descriptor', value: 'any' },
        { flags: ['-hits_addend'], summary: 'number of hits to add', value: 'any' },
        { flags: ['-count'], summary: 'number of calls', value: 'any' },
        { flags: ['-json'], summary: 'print only the responses, as JSON' },
        { flags: ['-grpc-use-tls'], summary: 'use TLS' },
        { flags: ['-grpc-server-ca-file'], summary: 'trust this CA (PEM)', value: 'file' },
        { flags: ['-grpc-cert-file'], summary: 'client certificate (PEM)', value: 'file' },
        {
          flags: ['-grpc-key-file'],
          summary: 'private key of the certificate (PEM)',
          value: 'file',
        },
        { flags: ['-oltp-protocol'], summary: 'ignored', value: 'any' },
      ],
    },
    check: {
      summary: 'find all errors in a folder of rule files',
      options: [strict, merge, json],
      operands: 'directory',
    },
    explain: {
      summary: 'show which rule matches a descriptor, and why',
      options: [
        { flags: ['-domain'], summary: 'the domain of the request', value: 'any' },
        { flags: ['-descriptors'], summary: 'one descriptor', value: 'any' },
        { flags: ['--now'], summary: 'Unix time of the request', value: 'any' },
        merge,
        json,
      ],
      operands: 'directory',
    },
    test: {
      summary: 'run the policy tests of a folder of rules, in simulated time',
      options: [
        { flags: ['--rules'], summary: 'the folder of the rules', value: 'directory' },
        { flags: ['--filter'], summary: 'run only tests that contain this text', value: 'any' },
        merge,
        json,
        { flags: ['--junit'], summary: 'also write the results to a file', value: 'file' },
      ],
      operands: 'directory',
    },
    replay: {
      summary: 'show which recorded requests a set of rules would have refused',
      options: [
        { flags: ['--domain'], summary: 'domain of lines without one', value: 'any' },
        { flags: ['--time-field'], summary: 'field with the time', value: 'any' },
        {
          flags: ['--domain-field'],
          summary: 'field with the domain; default: domain',
          value: 'any',
        },
        {
          flags: ['--descriptors-field'],
          summary: 'field with the descriptors; default: descriptors',
          value: 'any',
        },
        {
          flags: ['--hits-field'],
          summary: 'field with the hits; default: hitsAddend',
          value: 'any',
        },
        {
          flags: ['--descriptor'],
          summary: 'descriptor to build from an access log line',
          value: 'any',
        },
        {
          flags: ['--format'],
          summary: 'format of the access log',
          value: { choices: ['default', 'json'] },
        },
        { flags: ['--hits'], summary: 'number of hits of a request', value: 'any' },
        { flags: ['--strip-query'], summary: 'remove the query string from paths' },
        { flags: ['--reorder'], summary: 'how far requests may be out of order', value: 'any' },
        merge,
        {
          flags: ['--compare'],
          summary: 'apply other rules too, and show the differences',
          value: 'file',
        },
        { flags: ['--strict'], summary: 'fail if a line cannot be read' },
        { flags: ['--top'], summary: 'number of most refused keys to show', value: 'any' },
        { flags: ['--all'], summary: 'show all rules, even if they refused nothing' },
        json,
        {
          flags: ['--chart'],
          summary: 'draw a chart of requests over time to this SVG file',
          value: 'file',
        },
      ],
      operands: 'file',
    },
  },
}
