import { expect, it } from 'vitest';
import { parseStoreUrl } from '../../../src/config/addresses/store-url.ts';

it('the address of a database is read, and shown without user and password', () => {
  expect(parseStoreUrl('postgres://joe%40x:p%2F@db:5433/my%20log?schema=mine&sslmode=require')).toEqual({
    connectionString: 'postgres://joe%40x:p%2F@db:5433/my%20log?sslmode=require',
    schema: 'mine',
    shown: 'db:5433/my log, schema mine',
  });
});

it('a database without a name is the one of its user', () => {
  expect(parseStoreUrl('postgres://joe%40x@db').shown).toBe('db/joe@x, schema agent_service');
});

it('a parameter that the driver would ignore is named, but not if it may be a part of the password', () => {
  expect(() => parseStoreUrl('postgres://joe@db/log?tls=true')).toThrow(
    /has no parameter "tls", only schema, sslmode/,
  );
  expect(() => parseStoreUrl('postgres://joe:12?s3cret@db/log')).toThrow(
    /^the address of the database has no parameter of this name \(write a \? in the password as %3F\), only schema, [\w, ]+$/,
  );
});

it.each(['postgres://joe:s3cret%@db/log', 'postgres://joe%zz@db/log', 'postgres://joe@db/log%'])(
  '%s is refused for its percent sign, and the error does not repeat it',
  (url) => {
    expect(() => parseStoreUrl(url)).toThrow(
      /^the address of the database has a % that begins no code; write a percent sign as %25$/,
    );
  },
);
