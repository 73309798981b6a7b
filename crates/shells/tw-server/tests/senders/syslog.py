#!/usr/bin/env python3
"""Logs with Python's own handler: syslog.py udp|tcp HOST PORT COUNT."""

import logging
import socket
import sys
from logging.handlers import SysLogHandler

protocol, host, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
handler = SysLogHandler((host, port), facility=SysLogHandler.LOG_LOCAL3, socktype=kind)
handler.ident = "shop: "
logger = logging.getLogger("test")
logger.addHandler(handler)
for number in range(count):
    logger.error("order %d failed\nand so on", number)
handler.close()
