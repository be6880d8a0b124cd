# SPDX-License-Identifier: MIT
<#
.SYNOPSIS
Records what Windows' display driver model does, for the questions of questions.tsv, and packs it without personal data.

.DESCRIPTION
Windows PowerShell 5.1, as administrator, with nothing installed:

    powershell -ExecutionPolicy Bypass -File ask-windows.ps1

It records the provider Microsoft-Windows-DxgKrnl while windows move, or while what you choose runs, takes out what nobody needs
to know, shows what it would pack, and packs it when you agree. Nothing is sent. Whatever ends it, the recording is stopped and
its folder removed. README.md has the rest.

.PARAMETER Seconds
How long is recorded, 2 to 120. A game writes 100 thousand events a second.
.PARAMETER Workload
A program that is started for the recording, and ended after it. Its name is not packed.
.PARAMETER Wait
Record until Enter is pressed, for what you do by hand: restart the device, hang it, run a test client. At most 10 minutes.
.PARAMETER DriverLog
A text file that your driver or test client wrote, to be packed. It is read after the recording.
.PARAMETER Output
The packet. Without it: dxgkhost-answers-BUILD.zip beside this script.
.PARAMETER NoXml
Leave out the events as text, which the events and the manifest have, too.
#>
[CmdletBinding()]
param(
    [ValidateRange(2, 120)][int]$Seconds = 10,
    [string]$Workload = '',
    [switch]$Wait,
    [string]$DriverLog = '',
    [string]$Output = '',
    [switch]$NoXml
)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'

$Provider = '{802EC45A-1E99-4B83-9920-87C98277BA9D}'
$ProviderName = 'Microsoft-Windows-DxgKrnl'
$Session = 'dxgkhost-ask'
# What is recorded. DxgKrnl_Power (0x200) is not: some of its events hold names of processes.
$Keywords = @{
    Base              = 0x1
    References        = 0x4
    Patch             = 0x10
    Resource          = 0x40
    GPUScheduler      = 0x8000
    GPUVA             = 0x100000
    VidMmWorkerThread = 0x200000
    Present           = 0x8000000
}
# Numbers under HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers that change what is seen.
$RegistryValues = 'TdrLevel', 'TdrDelay', 'TdrDdiDelay', 'TdrLimitCount', 'TdrLimitTime', 'TdrDebugMode', 'HwSchMode'
$Megabyte = 1048576
$MostXmlMegabytes = 64 # of events that are also written as text
$LeastFreeMegabytes = 4096
$MostWaitSeconds = 600

$script:Recording = $false
$script:Children = @()
$script:Form = $null
$script:Folder = ''
$script:Facts = New-Object System.Collections.ArrayList

# By methods and not by cmdlets, as all that Clear-Up needs: those may end at once when Ctrl+C was pressed.
function Say([string]$text) {
    $Host.UI.WriteLine($text)
}

function Add-Fact([string]$name, $value) {
    [void]$script:Facts.Add("$name`t$value")
}

# Runs a program of Windows to its end. Gives what it printed; throws if it failed, saying what it said.
function Invoke-Program([string]$name, [string]$arguments) {
    $start = [System.Diagnostics.ProcessStartInfo]::new()
    $start.FileName = $name
    $start.Arguments = $arguments
    $start.UseShellExecute = $false
    $start.CreateNoWindow = $true
    $start.RedirectStandardOutput = $true
    $start.RedirectStandardError = $true
    if ($script:Folder) { $start.WorkingDirectory = $script:Folder }
    try {
        $process = [System.Diagnostics.Process]::Start($start)
    } catch {
        throw "$name cannot be started: $($_.Exception.Message)"
    }
    $errors = $process.StandardError.ReadToEndAsync()
    $text = $process.StandardOutput.ReadToEnd()
    $process.WaitForExit()
    $said = $errors.Result
    if ($process.ExitCode -ne 0) {
        throw "$name $arguments ended with $($process.ExitCode): $("$text $said".Trim())"
    }
    return $text
}

function Get-SystemProgram([string]$name) {
    return [System.IO.Path]::Combine([Environment]::SystemDirectory, $name)
}

# xperf or tracelog, which come with the kits that driver authors have; '' if there is none.
function Find-Tool([string]$name) {
    $command = Get-Command $name -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($command) { return $command.Path }
    $kits = Join-Path ${env:ProgramFiles(x86)} 'Windows Kits\10'
    foreach ($place in "Windows Performance Toolkit\$name", "bin\*\x64\$name") {
        $found = Get-ChildItem -Path (Join-Path $kits $place) -ErrorAction SilentlyContinue | Select-Object -Last 1
        if ($found) { return $found.FullName }
    }
    return ''
}

# ---- before anything is changed ----

function Test-Prerequisites {
    $missing = New-Object System.Collections.ArrayList
    $identity = [System.Security.Principal.WindowsIdentity]::GetCurrent()
    $principal = New-Object System.Security.Principal.WindowsPrincipal $identity
    if (-not $principal.IsInRole([System.Security.Principal.WindowsBuiltInRole]::Administrator)) {
        [void]$missing.Add('it does not run as administrator: open PowerShell with "Run as administrator"')
    }
    if ([IntPtr]::Size -ne 8) {
        [void]$missing.Add('it runs in a 32-bit PowerShell: take the one under System32 of a 64-bit Windows')
    }
    if ([Environment]::OSVersion.Version.Build -lt 10240) {
        [void]$missing.Add("Windows build $([Environment]::OSVersion.Version.Build) is too old: 10240 is the first of Windows 10")
    }
    foreach ($name in 'logman.exe', 'tracerpt.exe', 'wevtutil.exe') {
        if (-not (Test-Path (Get-SystemProgram $name))) { [void]$missing.Add("$name is not in the folder of Windows' programs") }
    }
    foreach ($name in 'scrub.cs', 'windows.cs', 'events.tsv') {
        if (-not (Test-Path -LiteralPath (Join-Path $PSScriptRoot $name))) { [void]$missing.Add("$name is not beside this script: take the whole folder") }
    }
    $drive = New-Object System.IO.DriveInfo $env:SystemRoot
    $free = [long]($drive.AvailableFreeSpace / $Megabyte)
    if ($free -lt $LeastFreeMegabytes) {
        [void]$missing.Add("the drive of Windows has $free MB free: $LeastFreeMegabytes are needed for a while")
    }
    if ($Workload -and -not (Test-Path -LiteralPath $Workload -PathType Leaf)) { [void]$missing.Add("the workload $Workload is not there") }
    if ($Workload -and $Wait) { [void]$missing.Add('-Workload and -Wait are for one each: with -Wait, start the program yourself') }
    if (Test-Path -LiteralPath $script:Packet) { [void]$missing.Add("$($script:Packet) is there already: move it away, or name another with -Output") }
    $parent = Split-Path -Parent $script:Packet
    if (-not (Test-Path -LiteralPath $parent -PathType Container)) { [void]$missing.Add("there is no folder $parent for the packet") }
    if ($missing.Count) { throw ("this is missing:`n  - " + ($missing -join "`n  - ")) }

    try { [void](Invoke-Program (Get-SystemProgram 'wevtutil.exe') "gp $ProviderName") }
    catch { throw "this Windows does not have the provider ${ProviderName}: $($_.Exception.Message)" }
    $running = $true
    try { [void](Invoke-Program (Get-SystemProgram 'logman.exe') "query $Session -ets") }
    catch { $running = $false }
    if ($running) { throw "a recording with the name $Session runs already. If it was left behind, end it with: logman stop $Session -ets" }
}

function Read-AskedEvents {
    $asked = @{}
    foreach ($line in [System.IO.File]::ReadAllLines((Join-Path $PSScriptRoot 'events.tsv'))) {
        $number = 0
        if ([int]::TryParse($line.Split("`t")[0], [ref]$number)) { $asked[$number] = $true }
    }
    if ($asked.Count -eq 0) { throw 'events.tsv names no event' }
    return [int[]]@($asked.Keys)
}

# ---- recording ----

function Get-KeywordMask {
    $mask = 0L
    foreach ($value in $Keywords.Values) { $mask = $mask -bor [long]$value }
    return '0x{0:X}' -f $mask
}

function Start-Recording([string]$path) {
    $arguments = "create trace $Session -o `"$path`" -bs 1024 -nb 64 512 -ets -p $Provider $(Get-KeywordMask) 5"
    $script:Recording = $true # before it is: Ctrl+C may come in between
    try {
        [void](Invoke-Program (Get-SystemProgram 'logman.exe') $arguments)
    } catch {
        $reason = $_.Exception.Message
        try { Stop-Recording } catch { $script:Recording = $false } # as a rule it does not run
        throw $reason
    }
}

# Asks for adapters, devices, contexts and allocations that were there before.
function Request-State {
    $mask = Get-KeywordMask
    try {
        [DxgkAsk.Session]::CaptureState($Session, [Guid]$Provider, [Convert]::ToUInt64($mask.Substring(2), 16))
        return 'EnableTraceEx2'
    } catch {
        Say "  Windows did not write the state of the adapters at once: $($_.Exception.Message)"
    }
    $tools = @{ 'xperf.exe' = "-capturestate $Session ${ProviderName}:${mask}:5"; 'tracelog.exe' = "-capturestate $Session -guid #$($Provider.Trim('{}'))" }
    foreach ($name in 'xperf.exe', 'tracelog.exe') {
        $tool = Find-Tool $name
        if (-not $tool) { continue }
        try {
            [void](Invoke-Program $tool $tools[$name])
            return $name
        } catch {
            Say "  $name did not help: $($_.Exception.Message)"
        }
    }
    Say '  Without it the recording does not tell what there was before it. Start what you ask about after the recording.'
    return 'none'
}

# Throws if it cannot be stopped; it may be tried again.
function Stop-Recording {
    if (-not $script:Recording) { return }
    [void](Invoke-Program (Get-SystemProgram 'logman.exe') "stop $Session -ets")
    $script:Recording = $false
}

function Start-Child([string]$path, [string]$arguments) {
    $start = [System.Diagnostics.ProcessStartInfo]::new()
    $start.FileName = $path
    $start.Arguments = $arguments
    $start.UseShellExecute = $false # a screen saver would be run full screen otherwise
    $start.WorkingDirectory = Split-Path -Parent $path
    $child = [System.Diagnostics.Process]::Start($start)
    $script:Children += $child
}

function Stop-Children {
    foreach ($child in $script:Children) {
        try { if (-not $child.HasExited) { $child.Kill() } } catch { Say "  a program that was started could not be ended: $($_.Exception.Message)" }
    }
}

# A window that moves for the compositor, with the preview of a screen saver of Windows, which draws with Direct3D, if there is one.
function Invoke-MovingWindow {
    Add-Type -AssemblyName System.Windows.Forms
    Add-Type -AssemblyName System.Drawing
    $script:Form = New-Object System.Windows.Forms.Form
    $form = $script:Form
    $form.Text = 'dxgkhost'
    $form.TopMost = $true
    $form.ClientSize = New-Object System.Drawing.Size 640, 400
    $form.StartPosition = [System.Windows.Forms.FormStartPosition]::Manual
    $form.Show()
    foreach ($name in 'Bubbles.scr', 'Ribbons.scr', 'Mystify.scr') {
        $path = Get-SystemProgram $name
        if ((Test-Path $path) -and $script:Children.Count -lt 2) {
            try { Start-Child $path "/p $($form.Handle.ToInt64())" } catch { Say "  $name could not be started: $($_.Exception.Message)" }
        }
    }
    $clock = [System.Diagnostics.Stopwatch]::StartNew()
    while ($clock.Elapsed.TotalSeconds -lt $Seconds) {
        $step = $clock.ElapsedMilliseconds / 500.0
        $form.Location = New-Object System.Drawing.Point ([int](300 + 200 * [Math]::Sin($step))), ([int](200 + 100 * [Math]::Cos($step)))
        $form.BackColor = [System.Drawing.Color]::FromArgb(64, 96, [int][Math]::Floor($clock.ElapsedMilliseconds / 10 % 256))
        [System.Windows.Forms.Application]::DoEvents()
        [System.Threading.Thread]::Sleep(4)
    }
}

function Invoke-Workload {
    if ($Wait) {
        Say "  Recording. Do what you want to ask about, then press Enter (or wait $MostWaitSeconds s)."
        $clock = [System.Diagnostics.Stopwatch]::StartNew()
        while ($clock.Elapsed.TotalSeconds -lt $MostWaitSeconds) {
            if ([Console]::KeyAvailable -and [Console]::ReadKey($true).Key -eq [ConsoleKey]::Enter) { break }
            [System.Threading.Thread]::Sleep(50)
        }
    } elseif ($Workload) {
        Start-Child (Resolve-Path -LiteralPath $Workload).ProviderPath ''
        [System.Threading.Thread]::Sleep($Seconds * 1000)
    } else {
        Invoke-MovingWindow
    }
}

# Process ids of what may be told apart in the recording; no other names.
function Add-Processes {
    Add-Fact 'process System' 4
    foreach ($process in @(Get-Process -Name dwm -ErrorAction SilentlyContinue)) { Add-Fact 'process dwm' $process.Id }
    foreach ($child in $script:Children) { Add-Fact 'process workload' $child.Id }
    if (-not $Workload -and -not $Wait) { Add-Fact 'process workload' $PID }
}

# ---- facts about the machine ----

function Add-MachineFacts {
    $version = Get-ItemProperty 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
    foreach ($name in 'CurrentBuildNumber', 'UBR', 'DisplayVersion', 'EditionID') {
        if ($version.PSObject.Properties[$name]) { Add-Fact "windows $name" $version.$name }
    }
    Add-Fact 'processors' ([Environment]::ProcessorCount)
    Add-Fact 'memory MB' ([long]((Get-CimInstance Win32_ComputerSystem).TotalPhysicalMemory / $Megabyte))
    $control = Get-ItemProperty 'HKLM:\SYSTEM\CurrentControlSet\Control'
    $options = ''
    if ($control.PSObject.Properties['SystemStartOptions']) { $options = $control.SystemStartOptions }
    Add-Fact 'test signing' ($options -match 'TESTSIGNING')
    foreach ($card in @(Get-CimInstance Win32_VideoController)) {
        $device = ''
        if ("$($card.PNPDeviceID)" -match 'VEN_[0-9A-Fa-f]+&DEV_[0-9A-Fa-f]+') { $device = $Matches[0] }
        Add-Fact 'adapter' "$($card.Name), $device, driver $($card.DriverVersion), problem code $($card.ConfigManagerErrorCode)"
    }
    try {
        foreach ($adapter in [DxgkAsk.Adapters]::All()) {
            Add-Fact 'driver model' "$($adapter.DriverModel), WDDM_2_7_CAPS $($adapter.Scheduling), ADAPTERTYPE $($adapter.Kind)"
        }
    } catch {
        Add-Fact 'driver model' "not known: $($_.Exception.Message)"
    }
    $key = Get-ItemProperty 'HKLM:\SYSTEM\CurrentControlSet\Control\GraphicsDrivers' -ErrorAction SilentlyContinue
    foreach ($name in $RegistryValues) {
        $value = 'not set'
        if ($key -and $key.PSObject.Properties[$name]) { $value = $key.$name }
        if ($value -isnot [ValueType] -and $value -ne 'not set') { $value = 'not a number' }
        Add-Fact "registry $name" $value
    }
}

# ---- the packet ----

# The manifest of this build, without which nobody knows the fields of events that changed.
function Export-Manifest([string]$path) {
    $text = Invoke-Program (Get-SystemProgram 'wevtutil.exe') "gp $ProviderName /ge /gm:false /f:xml"
    [System.IO.File]::WriteAllText($path, $text, (New-Object System.Text.UTF8Encoding $false))
}

function Export-Xml([string]$etl, [string]$path) {
    $raw = Join-Path $script:Folder 'raw.xml'
    [void](Invoke-Program (Get-SystemProgram 'tracerpt.exe') "`"$etl`" -of XML -o `"$raw`" -y")
    [DxgkAsk.Text]::CleanXml($raw, $path)
    [System.IO.File]::Delete($raw)
}

# What must not stand in the packet: names of this user and machine, users' folders, SIDs.
function Get-PersonalWords {
    $words = @($env:USERNAME, [Environment]::UserName, $env:COMPUTERNAME, $env:USERDOMAIN, [System.Net.Dns]::GetHostName())
    if ($env:USERPROFILE) { $words += Split-Path -Leaf $env:USERPROFILE }
    $words = @($words | Where-Object { $_ } | Select-Object -Unique)
    foreach ($word in $words) {
        if ($word.Length -lt 3) { Say "  '$word' is too short to be looked for: look for it yourself before you send the packet." }
    }
    return @($words | Where-Object { $_.Length -ge 3 }) + @('Users\', 'S-1-5-21-')
}

function Test-Yes([string]$question) {
    return (Read-Host "$question [y/N]") -match '^[yY]'
}

# Leaves out a file in which such a word stands, unless the user has looked and says that it is chance.
function Remove-Personal([string]$packing) {
    $words = Get-PersonalWords
    foreach ($file in @(Get-ChildItem -LiteralPath $packing)) {
        if ($file.Name -eq 'manifest.xml') { continue } # Windows' own text, the same on each machine
        $found = @([DxgkAsk.Text]::Find($file.FullName, [string[]]$words))
        if ($found.Count -eq 0) { continue }
        Say "  $($file.Name) has: $($found -join ', ')"
        if (-not (Test-Yes '  Pack it all the same?')) {
            [System.IO.File]::Delete($file.FullName)
            Say "  $($file.Name) is left out."
        }
    }
}

function Show-Packet([string]$packing) {
    Say ''
    Say 'This would be packed:'
    foreach ($file in @(Get-ChildItem -LiteralPath $packing)) { Say ('  {0,12:N0} bytes  {1}' -f $file.Length, $file.Name) }
    Say ''
    Say 'facts.txt says:'
    foreach ($fact in $script:Facts) { Say "  $fact" }
    Say ''
    Say "You can look at the files before you answer: $packing"
}

function Main {
    $script:Packet = $Output
    if (-not $script:Packet) { $script:Packet = Join-Path $PSScriptRoot "dxgkhost-answers-$([Environment]::OSVersion.Version.Build).zip" }
    $script:Packet = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($script:Packet)
    Say 'Looking whether everything is there.'
    Test-Prerequisites
    $asked = Read-AskedEvents
    try { Add-Type -IgnoreWarnings -Path (Join-Path $PSScriptRoot 'scrub.cs'), (Join-Path $PSScriptRoot 'windows.cs') }
    catch { throw "scrub.cs and windows.cs cannot be compiled: $($_.Exception.Message)" }

    $folder = Join-Path $env:SystemRoot "Temp\dxgkhost-ask-$PID" # its path has no name of a user
    if (Test-Path -LiteralPath $folder) { throw "$folder is there already: it was left behind, remove it" }
    [void][System.IO.Directory]::CreateDirectory($folder)
    $script:Folder = $folder
    $packing = Join-Path $folder 'packet'
    [void][System.IO.Directory]::CreateDirectory($packing)
    $raw = Join-Path $folder 'raw.etl'
    $etl = Join-Path $packing 'recording.etl'

    Say 'Recording.'
    Start-Recording $raw
    $state = Request-State
    Invoke-Workload
    Add-Processes
    Stop-Recording
    Stop-Children

    Say 'Taking out what nobody needs to know.'
    if (-not (Test-Path -LiteralPath $raw)) { throw "logman ended well, but $raw is not there" }
    $counts = [DxgkAsk.Recording]::Scrub($raw, $etl, $asked)
    [System.IO.File]::Delete($raw)
    if ($counts.Kept -eq 0) { throw "the recording has no event that is asked for (of others: $($counts.Emptied + $counts.Foreign))" }
    Add-Fact 'events kept' $counts.Kept
    Add-Fact 'events emptied' ($counts.Emptied + $counts.Foreign)
    Add-Fact 'events lost' $counts.Lost
    Add-Fact 'keywords' (Get-KeywordMask)
    Add-Fact 'state captured by' $state
    if ($counts.Lost) { Say "  $($counts.Lost) events were lost: record for a shorter time, or with less going on." }
    Add-MachineFacts
    Export-Manifest (Join-Path $packing 'manifest.xml')
    if ($NoXml) { Say '  Without recording.xml, as you asked.' }
    elseif ((Get-Item -LiteralPath $etl).Length -gt $MostXmlMegabytes * $Megabyte) { Say '  Without recording.xml: it would be too large.' }
    else {
        try { Export-Xml $etl (Join-Path $packing 'recording.xml') }
        catch { Say "  Without recording.xml: $($_.Exception.Message)" }
    }
    if ($DriverLog) {
        try { [System.IO.File]::Copy((Resolve-Path -LiteralPath $DriverLog).ProviderPath, (Join-Path $packing 'driver-log.txt')) }
        catch { Say "  Without the log of the driver: $($_.Exception.Message)" }
    }
    [System.IO.File]::WriteAllLines((Join-Path $packing 'facts.txt'), [string[]]$script:Facts.ToArray([string]), (New-Object System.Text.UTF8Encoding $false))

    Remove-Personal $packing
    Show-Packet $packing
    if (-not (Test-Yes 'Pack this?')) {
        Say 'Nothing was packed.'
        return
    }
    Add-Type -AssemblyName System.IO.Compression.FileSystem
    [System.IO.Compression.ZipFile]::CreateFromDirectory($packing, $script:Packet)
    Say "Packed: $($script:Packet). README.md says where it goes; nothing was sent."
}

# Each step on its own: what fails does not keep the next from being done. Runs after Ctrl+C, too.
function Clear-Up {
    try { Stop-Recording } catch { Say "The recording may still run: $($_.Exception.Message) End it with: logman stop $Session -ets" }
    Stop-Children
    try { if ($script:Form) { $script:Form.Dispose() } } catch { Say "The window could not be closed: $($_.Exception.Message)" }
    if ($script:Folder) {
        $folder = $script:Folder
        $script:Folder = ''
        try { [System.IO.Directory]::Delete($folder, $true) } catch { Say "$folder could not be removed: $($_.Exception.Message)" }
    }
}

$failed = $false
try {
    Main
} catch {
    $failed = $true
    Say "ask-windows: $($_.Exception.Message)"
} finally {
    Clear-Up
}
if ($failed) { exit 1 }
