export * from '@portcullis/ratelimit/use/node'
